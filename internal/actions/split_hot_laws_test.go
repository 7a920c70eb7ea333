package actions

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// randomWrites draws where rows were written and the writes of the shards.
func randomWrites(t testing.TB, r *rapid.T, s *Situation) {
	for _, c := range s.Table.Collections {
		var keys []topology.KeyWrites
		seen := map[string]bool{}
		for range rapid.IntRange(0, 12).Draw(r, "written keys") {
			if k := randomKey(t, r, c.Key); !seen[k.Encoded()] {
				seen[k.Encoded()] = true
				keys = append(keys, topology.KeyWrites{Key: k, Rows: rapid.Int64Range(1, 60).Draw(r, "rows")})
			}
		}
		counted := rapid.Bool().Draw(r, "counted")
		for _, ch := range c.Chunks.All() {
			s.Writes.Ranges = append(s.Writes.Ranges,
				rangeWrites(c.NS, ch.Min, ch.Max, keys, func(w *topology.RangeWrites) { w.InShards = counted }))
		}
	}
	s.Writes.At = now
	if rapid.IntRange(0, 4).Draw(r, "rates") > 0 {
		rate := func(name string) float64 { return float64(rapid.IntRange(0, 60).Draw(r, name)) }
		withShardWrites(rate("a"), rate("b"), rate("c"))(s)
	}
}

// For any writes, a split key is a written key strictly inside its chunk, with writes on
// both sides, and never leaves only the most written value; and the chosen move makes the
// writes more even.
func TestHotSplitKeyHasWritesOnBothSides(t *testing.T) {
	found := 0
	rapid.Check(t, func(r *rapid.T) {
		s := randomCluster(t, r)
		c := rapid.SampledFrom(s.Table.Collections).Draw(r, "hot")
		i := rapid.IntRange(0, c.Chunks.Len()-1).Draw(r, "which")
		d, resolved, err := Planners()[SplitHot](s, Args{NS: c.NS, Bounds: chunkAt(t, s, c.NS, i)})
		if err != nil {
			if k := fault.Of(err); k != fault.Invalid {
				r.Fatal(err)
			}
			return
		}
		checkTexts(r, d)
		if len(resolved.Cuts) == 0 {
			if !d.Blocked() {
				r.Fatalf("nothing was chosen, and nothing blocks: %+v", d.Checks)
			}
			return
		}
		found++
		at, err := c.Key.Bound(resolved.Cuts[0].At)
		must.Do(r, err)
		ch := c.Chunks.At(i)
		below, above, top := int64(0), int64(0), int64(0)
		for _, k := range s.Writes.of(c.NS, ch.Min, ch.Max).Keys {
			if top = max(top, k.Rows); k.Key.Compare(at) < 0 {
				below += k.Rows
			} else {
				above += k.Rows
			}
		}
		if below == 0 || above == 0 || at.Compare(ch.Min) <= 0 || at.Compare(ch.Max) >= 0 {
			r.Fatalf("%d rows below and %d above %s", below, above, c.Key.Display(at))
		}
		if off := max(below-above, above-below); off > top {
			r.Fatalf("%d and %d rows: off by more than the heaviest value's %d", below, above, top)
		}
		var before, after float64
		for _, w := range d.Effect.Writes {
			before, after = before+w.Before*w.Before, after+w.After*w.After
		}
		if after >= before {
			r.Fatalf("not more even: %+v", d.Effect.Writes)
		}
	})
	if found == 0 && !testing.Short() {
		t.Error("nothing was found: nothing is tested")
	}
}

// Planned again from its choices, on a cluster where part of it is done, a plan has the
// rest; when all is done, nothing.
func TestHotSplitPlannedAgainPlansTheRest(t *testing.T) {
	ran := 0
	rapid.Check(t, func(r *rapid.T) {
		s := randomCluster(t, r)
		c := rapid.SampledFrom(s.Table.Collections).Draw(r, "hot")
		var refs []string
		for i := range min(4, c.Chunks.Len()) {
			refs = append(refs, encoded(chunkAt(t, s, c.NS, i)[0]))
		}
		d, resolved, err := Planners()[SplitHot](s, Args{NS: c.NS, Chunks: refs})
		if err != nil || d.Blocked() {
			return
		}
		ran++
		whole := modelOf(t, s)
		must.Do(r, whole.run(d.Steps, d.Effect))
		done := rapid.IntRange(0, len(d.Steps)).Draw(r, "done")
		part := modelOf(t, s)
		must.Do(r, part.run(d.Steps[:done], d.Effect))
		rest, again, err := Planners()[SplitHot](part.now(), resolved)
		must.Do(r, err)
		if fmt.Sprint(again) != fmt.Sprint(resolved) {
			r.Fatalf("it chose anew: %v, then %v", resolved, again)
		}
		if len(rest.Steps) != len(d.Steps)-done {
			r.Fatalf("after %d of %d steps there are %d", done, len(d.Steps), len(rest.Steps))
		}
		must.Do(r, part.run(rest.Steps, rest.Effect))
		if part.picture() != whole.picture() {
			r.Fatalf("in two parts:\n%s\nat once:\n%s", part.picture(), whole.picture())
		}
	})
	if ran == 0 && !testing.Short() {
		t.Error("nothing ran: nothing is tested")
	}
}
