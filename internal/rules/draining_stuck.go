package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// DrainingStuck finds draining shards that do not get emptier.
const DrainingStuck Rule = "draining-stuck"

var drainingStuck = rule{id: DrainingStuck, name: "Draining is stuck", find: findDrainingStuck, alone: neverOne,
	needs: []topology.Part{topology.PartShards}, playbooks: []Playbook{PlaybookDrainShard, PlaybookBalancerDoesNothing}}

func findDrainingStuck(ev *evaluation) {
	for _, s := range ev.Table.Shards {
		if !s.Draining {
			continue
		}
		p, stuck, known := ev.drainState(s)
		if !known {
			ev.cannot(s.Name, message.New("noEvents",
				"The changelog is not readable or does not reach back {over}.",
				message.Duration("over", lately)))
		}
		if stuck {
			ev.add(p)
		}
	}
}
