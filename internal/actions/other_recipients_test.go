package actions

import (
	"slices"
	"testing"
)

// Of a plan that may send a move to several shards, all that may come to one has room there.
func TestAPlanNamesOnlyShardsWithRoomForAll(t *testing.T) {
	for _, test := range []struct {
		usedOfC int64 // of 10,000 MB, of which 500 are reserved
		named   bool
	}{{0, true}, {9000, true}, {9450, true}, {9495, false}, {9999, false}} {
		s := cluster(t, "0.6.38", "5.0.7")
		setDisks(s.Table, 0, 0, test.usedOfC)
		d, _ := plan(t, s, Isolate, Args{Project: oid(20).Hex(), Shard: "b"})
		named := false
		for i, m := range d.Effect.Moves {
			named = named || slices.Contains(m.Or, "c")
			if slices.Contains(m.Or, m.To) || slices.Contains(m.Or, "b") {
				t.Errorf("move %d goes to %s or %v", i, m.To, m.Or)
			}
		}
		if len(d.Effect.Moves) == 0 || named != test.named || !slices.Contains(d.Limits.Shards, "c") {
			t.Errorf("%d MB used: c is named: %v of %d moves, %v", test.usedOfC, named, len(d.Effect.Moves), d.Limits.Shards)
		}
	}
}
