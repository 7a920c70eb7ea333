package rules

import "shardboard/internal/message"

// Resharding lists collections that get another shard key now.
const Resharding Rule = "resharding"

var resharding = rule{id: Resharding, name: "Resharding", find: findResharding,
	playbooks: []Playbook{PlaybookChangeShardKey}}

func findResharding(ev *evaluation) {
	for _, c := range ev.sharded() {
		if !c.Resharding {
			continue
		}
		ns := string(c.NS)
		ev.add(Problem{
			Subject:  ns,
			NS:       c.NS,
			Severity: Info,
			Why:      message.New("resharding.ends", "Moves wait until it is done."),
			Weight:   float64(c.Chunks.Len()),
			Text:     message.New("resharding", "{ns} is being resharded.", message.Namespace("ns", ns)),
			Evidence: []Evidence{ev.shardKey(c), ev.chunksOf(c)},
			Remedy: Remedy{
				WhyNot: message.New("resharding.wait", "Wait until it is done."),
				Commands: []Command{
					readCommand(`db.getSiblingDB("admin").aggregate([{$currentOp: {allUsers: true, localOps: false}}, `+
						`{$match: {type: "op", originatingCommand: {$exists: true}, desc: /Resharding/}}])`,
						"resharding.progress", "shows how far it is"),
				},
			},
		})
	}
}
