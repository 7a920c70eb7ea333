package rules

import (
	"time"

	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// What a run can pause.
const (
	PausedBalancer   = "balancer"   // the whole balancer
	PausedCollection = "collection" // the balancing of one collection
)

// PausedBalancing is something that a run of ours switched off for its own time
// and has not switched on again.
type PausedBalancing struct {
	What     string             // PausedBalancer or PausedCollection
	NS       topology.Namespace // of a collection
	Run      string             // the run's id
	Since    time.Time
	RunOpen  bool // the run goes on, and will switch it on again
	RunKnown bool // false: nothing is kept of the run any more
}

// stillOff tells whether what was paused is off now.
func (l *look) stillOff(p PausedBalancing) (off, known bool) {
	if p.What == PausedCollection {
		c := l.Table.Collection(p.NS)
		return c != nil && c.NoBalance, true
	}
	return l.switchedOff(), l.Table.Balancer.Known
}

// pausedBy is the run that has the whole balancer paused now.
func (l *look) pausedBy() (PausedBalancing, bool) {
	for _, p := range l.Paused {
		if off, known := l.stillOff(p); p.What == PausedBalancer && known && off {
			return p, true
		}
	}
	return PausedBalancing{}, false
}

// balancingPaused: a run paused balancing for its own time and is gone, so that
// nothing switches it on again.
func balancingPaused(l *look) {
	if l.PausedUnread {
		l.cannot("", "noRuns")
		return
	}
	for _, x := range l.Paused {
		if x.RunOpen {
			continue
		}
		subject := PausedBalancer
		if x.What == PausedCollection {
			subject = string(x.NS)
		}
		off, known := l.stillOff(x)
		switch {
		case !known:
			l.cannot(subject, "unread", "part", string(topology.PartSettings))
			continue
		case !off:
			continue // somebody has switched it on
		}
		p := Problem{Subject: subject, NS: x.NS, Severity: Warn, Why: say("paused.ended"), Weight: l.Now.Sub(x.Since).Hours(),
			Text: say("paused.balancer", "run", x.Run, "since", at(x.Since)),
			Evidence: []Evidence{
				{Name: say("paused.since"), Unit: "time", Known: true, Time: x.Since, Exact: true, Method: "run", At: l.Now},
				{Name: say("paused.run"), Unit: "text", Known: true, Text: x.Run, Exact: true, Method: "run", At: l.Now},
			},
			Remedy: Remedy{Plans: []Plan{plan("balancer-on", say("balancer-on"))}, Commands: []Command{do("sh.startBalancer()", "off.start")}}}
		if x.What == PausedCollection {
			ns := string(x.NS)
			p.Text = say("paused.collection", "ns", ns, "run", x.Run, "since", at(x.Since))
			p.Remedy = Remedy{Plans: []Plan{balanceCollection(ns)}, Commands: []Command{do("sh.enableBalancing("+sanitize.Quoted(ns)+")", "imbalance.enable")}}
		}
		if !x.RunKnown {
			p.Why = say("paused.gone")
		}
		l.add(p)
	}
}
