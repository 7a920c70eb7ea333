package rules

import (
	"time"

	"shardboard/internal/topology"
)

// offShort is how long the balancer may be off before that is more than
// somebody's maintenance.
const offShort = time.Hour

// balancerOff: the switch, or a mode in which nothing is moved.
func balancerOff(l *look) {
	if l.unread(topology.PartSettings) {
		return
	}
	b := l.Table.Balancer
	if !b.Known {
		l.cannot("", "unread", "part", string(topology.PartSettings))
		return
	}
	code := "off"
	switch {
	case !b.Enabled():
	case b.Mode == "autoSplitOnly":
		code = "splitsOnly"
	default:
		return
	}
	pause, paused := l.pausedBy()
	if paused && !pause.RunOpen {
		return // listed as paused by a run that is gone
	}
	i := Problem{Subject: "balancer", Severity: Warn, Why: say("off.long"), Text: say(code)}
	if never(l.Off.At) {
		i.Why = say("off.unknown")
	} else {
		switch off := l.Now.Sub(l.Off.At); {
		case off < time.Minute: // a span of seconds says nothing
		case l.Off.AtLeast:
			i.Text = say(code+".sinceAtLeast", "since", at(l.Off.At))
		default:
			i.Text = say(code+".since", "since", at(l.Off.At))
		}
		i.Weight = l.Now.Sub(l.Off.At).Hours()
		if !l.offLong() {
			i.Severity, i.Why = Info, say("off.short")
		}
	}
	if paused {
		i.Severity, i.Why = Info, say("off.byRun", "run", pause.Run)
	}
	i.Evidence = append(i.Evidence, l.offEvidence(), l.text("off.mode", b.Mode, topology.PartSettings))
	waiting := 0
	for _, s := range l.Table.Shards {
		if s.Draining {
			waiting++
		}
	}
	if waiting > 0 {
		i.Severity, i.Why = Critical, say("off.draining")
		i.Evidence = append(i.Evidence, l.counted("off.drainingShards", waiting))
	}
	if wrong := l.wronglyPlaced(); wrong > 0 {
		i.Evidence = append(i.Evidence, l.counted("off.zoneWrong", wrong))
	}
	i.Remedy = Remedy{
		Plans: []Plan{plan("balancer-on", say("balancer-on"))},
		Commands: []Command{
			check(`db.getSiblingDB("config").actionlog.find({what: /^balancer/}).sort({time: -1}).limit(3)`, "off.whoStopped"),
			do("sh.startBalancer()", "off.start"),
		},
	}
	l.add(i)
}

// offEvidence is since when the balancer has been off.
func (l *look) offEvidence() Evidence {
	e := Evidence{Name: say("off.since"), Unit: "time", Reason: "notObserved"}
	if !never(l.Off.At) {
		e.Known, e.Reason, e.Time, e.Exact, e.AtLeast, e.Method, e.At = true, "", l.Off.At, !l.Off.AtLeast, l.Off.AtLeast, l.Off.Method, l.Now
	}
	return e
}

// wronglyPlaced counts chunks outside their zone.
func (l *look) wronglyPlaced() int {
	n := 0
	for _, z := range l.Table.Zones {
		n += len(l.outside(z))
	}
	return n
}
