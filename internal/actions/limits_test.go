package actions

import (
	"testing"

	"shardboard/internal/topology"
)

// A hot chunk of some kilobytes grows by half between the plan and the run: nothing that
// whoever confirmed it would want to be asked about again.
func TestSmallChunksMayGrowWithinTheLimits(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct{ planned, now, atMost int64 }{
		{112_014, 262_973, 64 * mb},
		{20 * mb, 64 * mb, 64 * mb},
		{20 * mb, 64*mb + 1, 64 * mb},
		{40 * mb, 80 * mb, 80 * mb},
		{40 * mb, 80*mb + 1, 80 * mb},
	} {
		d := draftBuilder{steps: []Step{{Op: OpMove, Shard: "shard-rs-1"}}}
		d.receivers = []string{"shard-rs-1"}
		l := d.limits(Draft{Effect: Effect{Bytes: topology.Figure{Known: true, Value: c.planned}}})
		rest := Draft{Effect: Effect{Bytes: topology.Figure{Known: true, Value: c.now}}}
		if over := l.Exceeded(0, rest); l.Bytes.Value != c.atMost || (len(over) > 0) != (c.now > c.atMost) {
			t.Errorf("planned %d, now %d: at most %d, over %v", c.planned, c.now, l.Bytes.Value, over)
		}
	}
}
