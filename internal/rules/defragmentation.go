package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Defragmentation lists collections that the balancer defragments, and those where it
// cannot go on with that.
const Defragmentation Rule = "defragmentation"

var defragmentation = rule{id: Defragmentation, name: "Defragmentation", find: findDefragmentation,
	playbooks: []Playbook{PlaybookManySmallChunks}}

func findDefragmentation(ev *evaluation) {
	for _, c := range ev.sharded() {
		if !c.Defragmenting {
			continue
		}
		ns, since := string(c.NS), ev.since(c.NS, SettingDefragment)
		p := Problem{
			Subject:  ns,
			NS:       c.NS,
			Severity: Info,
			Why:      message.New("defragmentation.works", "It continues by itself. Until it is done, the collection is not balanced otherwise."),
			Weight:   float64(c.Chunks.Len()),
			Text: ev.lasting("defragmentation", "{ns} is being defragmented", "{ns} has been in defragmentation", since,
				message.Namespace("ns", ns)),
			Evidence: append(ev.sinceEvidence(since), ev.chunksOf(c)),
		}
		if c.Phase != "" {
			p.Evidence = append(p.Evidence, ev.text(message.New("defragmentation.phase", "Phase"), message.Text("value", c.Phase),
				topology.PartRouting))
		}
		if !c.Ending() {
			p.Remedy.Plans = []Plan{plan("defragment", message.New("defragment.stop", "Stop defragmenting {ns}.", message.Namespace("ns", ns)),
				"ns", ns, "on", "false")}
		} else {
			p.Remedy.WhyNot = message.New("defragmentation.ends", "It is in its last phase and ends by itself.")
		}
		stuck := func(why message.Message, r Remedy) {
			p.Severity, p.Why = Warn, why
			p.Remedy.Plans, p.Remedy.Commands, p.Remedy.WhyNot = append(r.Plans, p.Remedy.Plans...), r.Commands, message.Message{}
		}
		switch {
		case ev.switchedOff():
			stuck(message.New("defragmentation.balancerOff", "The balancer has to do it, and is off."), balancerOnRemedy())
		case c.MigrationsBlocked:
			stuck(message.New("defragmentation.blocked", "The balancer has to move chunks for it, and moves are blocked."), ev.allowMoves(ns))
		case c.NoBalance:
			stuck(message.New("defragmentation.collectionOff", "The balancer has to do it, and balancing of the collection is off."),
				balanceCollection(ns))
		}
		ev.add(p)
	}
}
