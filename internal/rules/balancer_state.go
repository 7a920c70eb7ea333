package rules

import (
	"time"

	"shardboard/internal/message"
)

// switchedOff tells whether the balancer moves nothing in the whole cluster.
func (ev *evaluation) switchedOff() bool {
	b := ev.Table.Balancer
	return b.Known && !b.Moves()
}

// offLong tells whether the balancer has been off for longer than maintenance takes,
// or for an unknown time.
func (ev *evaluation) offLong() bool {
	return ev.Off.At.IsZero() || ev.Off.AtLeast || ev.Now.Sub(ev.Off.At) >= offShort
}

// offShort is how long the balancer may be off for maintenance.
const offShort = time.Hour

// offEvidence is since when the balancer has been off.
func (ev *evaluation) offEvidence() Evidence {
	return ev.sinceFigure(message.New("off.since", "Off since"), ev.Off)
}
