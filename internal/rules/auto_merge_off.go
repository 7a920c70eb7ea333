package rules

import "shardboard/internal/message"

// AutoMergeOff lists collections whose chunks the balancer is told not to merge.
const AutoMergeOff Rule = "auto-merge-off"

var autoMergeOff = rule{id: AutoMergeOff, name: "Automatic merging off", find: findAutoMergeOff,
	playbooks: []Playbook{PlaybookManySmallChunks}}

func findAutoMergeOff(ev *evaluation) {
	for _, c := range ev.sharded() {
		if !c.AutoMergeOff {
			continue
		}
		ns, since := string(c.NS), ev.since(c.NS, SettingAutoMerge)
		ev.add(Problem{
			Subject:  ns,
			NS:       c.NS,
			Severity: Info,
			Why:      message.New("autoMergeOff.chosen", "Its chunks stay as they are split, so their number can grow."),
			Weight:   float64(c.Chunks.Len()),
			Text: ev.lasting("autoMergeOff", "Automatic merging of {ns} is off", "Automatic merging of {ns} has been off", since,
				message.Namespace("ns", ns)),
			Evidence: append(ev.sinceEvidence(since), ev.chunksOf(c)),
			Remedy: Remedy{Plans: []Plan{plan("auto-merge",
				message.New("auto-merge", "Let the balancer merge chunks of {ns} again.", message.Namespace("ns", ns)), "ns", ns, "on", "true")}},
		})
	}
}
