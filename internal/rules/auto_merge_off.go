package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// AutoMergeOff lists collections whose chunks the balancer is told not to merge.
const AutoMergeOff Rule = "auto-merge-off"

var autoMergeOff = rule{id: AutoMergeOff, name: "Automatic merging off", find: findAutoMergeOff,
	playbooks: []Playbook{PlaybookManySmallChunks}}

func findAutoMergeOff(ev *evaluation) {
	// balancerStop of 8.0 turns it off too; while the balancer is off that is all there is to say.
	if b := ev.Table.Balancer; b.AutoMergeOff && b.Moves() {
		ev.add(Problem{
			Subject:  "cluster",
			Severity: Info,
			Why:      message.New("autoMergeOff.cluster.chosen", "Chunks stay as they are split, so their number can grow."),
			Text:     message.New("autoMergeOff.cluster", "Automatic merging is off for the whole cluster."),
			Evidence: []Evidence{ev.text(message.New("autoMergeOff.setting", "config.settings"),
				message.Text("value", "automerge: enabled is false"), topology.PartSettings)},
			Remedy: Remedy{WhyNot: commandsOnly(), Commands: []Command{
				writeCommand("sh.startAutoMerger()", "autoMergeOff.start", "turns it on for the whole cluster")}},
		})
		return
	}
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
