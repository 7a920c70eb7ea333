package rules

import "shardboard/internal/message"

// BalancingOff lists collections whose balancing is switched off.
const BalancingOff Rule = "balancing-off"

var balancingOff = rule{id: BalancingOff, name: "Collection not balanced", find: findBalancingOff,
	playbooks: []Playbook{PlaybookBalancerDoesNothing}}

func findBalancingOff(ev *evaluation) {
	for _, c := range ev.sharded() {
		if !c.NoBalance {
			continue
		}
		if ev.outsideOf(c) > 0 {
			continue // listed with its consequence, as zones-stuck
		}
		ns, since := string(c.NS), ev.since(c.NS, SettingBalancing)
		ev.add(Problem{
			Subject:  ns,
			NS:       c.NS,
			Severity: Info,
			Why: message.New("balancingOff.chosen",
				"Its chunks stay where they are. Moves by hand still work."),
			Weight: float64(c.Chunks.Len()),
			Text:   ev.lasting("balancingOff", "Balancing of {ns} is off", "Balancing of {ns} has been off", since, message.Namespace("ns", ns)),
			Evidence: append(ev.sinceEvidence(since),
				ev.counted(message.New("balancingOff.chunks", "Chunks of the collection"), c.Chunks.Len()),
			),
			Remedy: balanceCollection(ns),
		})
	}
}
