package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Draining lists shards that are being emptied, where nothing is known to stop that.
const Draining Rule = "draining"

var draining = rule{id: Draining, name: "Draining", find: findDraining, alone: neverOne,
	needs: []topology.Part{topology.PartShards}, playbooks: []Playbook{PlaybookDrainShard}}

func findDraining(ev *evaluation) {
	for _, s := range ev.Table.Shards {
		if !s.Draining {
			continue
		}
		p, stuck, _ := ev.drainState(s)
		if stuck {
			continue
		}
		p.Severity, p.Why, p.Text = Info, message.New("draining.going", "It continues by itself."), message.New("draining",
			"{shard} is draining. Chunks left: {n}.",
			message.Shard("shard", s.Name), message.Count("n", int(p.Weight)))
		p.Remedy = Remedy{
			WhyNot: message.New("draining.itself",
				"The balancer moves its chunks. Databases that have it as primary shard and unsharded collections must be moved by hand."),
			Commands: removalProgress(s.Name),
		}
		left := ev.Table.RemainsOn(s.Name)
		if len(left.Databases)+len(left.Unsharded) > 0 {
			p.Remedy = ev.emptyByHand(s.Name, left)
			p.Remedy.Commands = removalProgress(s.Name)
		}
		if left.Empty() {
			p.Why, p.Text = message.New("draining.done", "It can be removed."), message.New("draining.empty",
				"{shard} is draining, and nothing is left on it.", message.Shard("shard", s.Name))
			p.Remedy = Remedy{Plans: []Plan{plan("remove-shard", message.New("remove-shard",
				"Remove {shard} from the cluster.", message.Shard("shard", s.Name)), "shard", s.Name)}}
		}
		ev.add(p)
	}
}
