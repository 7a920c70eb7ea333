package actions

import (
	"testing"
	"time"

	"shardboard/internal/balance"
	"shardboard/internal/topology"
)

// A resharding takes at least five minutes, and in 8.0 half a minute more than its copying.
func TestReshardingTakesAtLeastWhatTheServerWaits(t *testing.T) {
	for _, tc := range []struct {
		release    string
		copying    time.Duration
		operations int
		want       time.Duration
	}{
		{"8.0.10", time.Second, 1, 5 * time.Minute},
		{"8.0.10", 20 * time.Minute, 1, 20*time.Minute + 30*time.Second},
		{"5.0.7", 20 * time.Minute, 1, 20 * time.Minute},
		{"8.0.10", 4 * time.Minute, 3, 15 * time.Minute},
		{"8.0.10", 40 * time.Minute, 3, 41*time.Minute + 30*time.Second},
	} {
		d := &draftBuilder{s: Situation{Release: balance.ReleaseOf(tc.release)}}
		got := d.reshardTime(topology.Figure{Known: true, Value: tc.copying.Milliseconds()}, tc.operations)
		if time.Duration(got.Value)*time.Millisecond != tc.want {
			t.Errorf("%s, %d times, %s of copying: %d ms, want %s", tc.release, tc.operations, tc.copying, got.Value, tc.want)
		}
		if unknown := d.reshardTime(topology.Figure{}, 1); unknown.Known {
			t.Error("an unknown copying gives a known time")
		}
	}
}
