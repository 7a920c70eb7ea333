package rules

import (
	"time"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// What a run can pause.
const (
	PausedBalancer   = "balancer"   // the whole balancer
	PausedCollection = "collection" // the balancing of one collection
)

// BalancingPaused finds what a run paused and did not switch on again before it ended.
const BalancingPaused Rule = "balancing-paused"

var balancingPaused = rule{id: BalancingPaused, name: "Balancing left paused", page: PageRuns, find: findBalancingPaused,
	playbooks: []Playbook{PlaybookBalancerDoesNothing}}

func findBalancingPaused(ev *evaluation) {
	if ev.PausedUnread {
		ev.cannot("", message.New("noRuns", "The runs could not be read."))
		return
	}
	for _, x := range ev.Paused {
		if x.RunOpen {
			continue
		}
		subject := PausedBalancer
		if x.What == PausedCollection {
			subject = string(x.NS)
		}
		off, known := ev.stillOff(x)
		switch {
		case !known:
			ev.cannot(subject, unreadPart(topology.PartSettings))
			continue
		case !off:
			continue // it is on again
		}
		p := Problem{
			Subject:  subject,
			NS:       x.NS,
			Severity: Warn,
			Why:      message.New("paused.ended", "The run has ended, so nothing turns it on again."),
			Weight:   ev.Now.Sub(x.Since).Hours(),
			Text: message.New("paused.balancer",
				"The run {run} turned the balancer off {since} ago and did not turn it on again.",
				message.Text("run", x.Run), message.Since("since", x.Since)),
			Evidence: []Evidence{
				timeFrom(message.New("paused.since", "Paused since"), x.Since, "run", ev.Now),
				textFrom(message.New("paused.run", "Run"), message.Text("value", x.Run), "run", ev.Now),
			},
			Remedy: balancerOnRemedy(),
		}
		if x.What == PausedCollection {
			ns := string(x.NS)
			p.Text = message.New("paused.collection",
				"The run {run} turned off balancing of {ns} {since} ago and did not turn it on again.",
				message.Namespace("ns", ns), message.Text("run", x.Run), message.Since("since", x.Since))
			p.Remedy = balanceCollection(ns)
		}
		if !x.RunKnown {
			p.Why = message.New("paused.gone", "The run is not known any more, so nothing turns it on again.")
		}
		ev.add(p)
	}
}

// PausedBalancing is something that a run of shardboard switched off while it ran and
// has not switched on again.
type PausedBalancing struct {
	What     string             // PausedBalancer or PausedCollection
	NS       topology.Namespace // of a collection
	Run      string             // the run's id
	Since    time.Time
	RunOpen  bool // the run goes on, and will switch it on again
	RunKnown bool // false: the run is not in the store any more
}

// stillOff tells whether what was paused is off now.
func (ev *evaluation) stillOff(p PausedBalancing) (off, known bool) {
	if p.What == PausedCollection {
		c := ev.Table.Collection(p.NS)
		return c != nil && c.NoBalance, true
	}
	return ev.switchedOff(), ev.Table.Balancer.Known
}

// pausedBy is the run that has the whole balancer paused now.
func (ev *evaluation) pausedBy() (PausedBalancing, bool) {
	for _, p := range ev.Paused {
		if off, known := ev.stillOff(p); p.What == PausedBalancer && known && off {
			return p, true
		}
	}
	return PausedBalancing{}, false
}
