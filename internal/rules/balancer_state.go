package rules

import (
	"time"

	"shardboard/internal/message"
)

// switchedOff tells whether the balancer moves nothing in the whole cluster.
func (ev *evaluation) switchedOff() bool {
	b := ev.Table.Balancer
	return b.Known && (!b.Enabled() || b.Mode == "autoSplitOnly")
}

// offLong tells whether the balancer has been off for longer than maintenance
// takes, or since nobody knows when.
func (ev *evaluation) offLong() bool {
	return ev.Off.At.IsZero() || ev.Off.AtLeast || ev.Now.Sub(ev.Off.At) >= offShort
}

// offShort is how long the balancer may be off before that is more than
// somebody's maintenance.
const offShort = time.Hour

// offEvidence is since when the balancer has been off.
func (ev *evaluation) offEvidence() Evidence {
	e := Evidence{Name: message.New("off.since", "Off since"), Unit: "time", Reason: "notObserved"}
	if !ev.Off.At.IsZero() {
		e.Known, e.Reason, e.Time, e.Exact, e.AtLeast, e.Method, e.At = true, "", ev.Off.At, !ev.Off.AtLeast, ev.Off.AtLeast, ev.Off.Method, ev.Now
	}
	return e
}
