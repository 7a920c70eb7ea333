package actions

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// randomCluster draws a layout, a release, chunks with random bounds and owners, sometimes
// zones, and sometimes a draining shard.
func randomCluster(t testing.TB, r *rapid.T) Situation {
	layout := rapid.SampledFrom([]string{"0.4", "0.6.38"}).Draw(r, "layout")
	version := rapid.SampledFrom([]string{"4.4.9", "5.0.7", "6.0.1", "6.0.9", "7.0.2", "8.0.4"}).Draw(r, "version")
	s := cluster(t, layout, version)
	for _, c := range s.Table.Collections {
		points := map[string]shardkey.Key{}
		for range rapid.IntRange(0, 9).Draw(r, "cuts") {
			k := randomKey(t, r, c.Key)
			points[k.Encoded()] = k
		}
		var bounds []shardkey.Key
		for _, k := range points {
			if k.Compare(c.Key.Min()) > 0 && k.Compare(c.Key.Max()) < 0 {
				bounds = append(bounds, k)
			}
		}
		slices.SortFunc(bounds, func(a, b shardkey.Key) int { return a.Compare(b) })
		owners := ""
		for range len(bounds) + 1 {
			owners += rapid.SampledFrom([]string{"a", "a", "b", "c"}).Draw(r, "owner")
		}
		*c = *collection(t, c.NS, c.Key, bounds, owners)
	}
	if rapid.IntRange(0, 3).Draw(r, "zoned") == 0 {
		lo := rapid.SampledFrom([]byte{5, 10, 20, 30}).Draw(r, "from")
		zone(t, "eu", rapid.SampledFrom([]string{"a", "ab", "bc"}).Draw(r, "members"), documents, from(t, lo),
			from(t, lo+rapid.ByteRange(1, 12).Draw(r, "width")))(&s)
	}
	if rapid.IntRange(0, 5).Draw(r, "draining") == 0 {
		draining(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "which"))(&s)
	}
	if rapid.Bool().Draw(r, "balancer") {
		balancing(&s)
	}
	randomWrites(t, r, &s)
	return s
}

// randomKey draws a bound at or near the projects, with a hash for a hashed field.
func randomKey(t testing.TB, r *rapid.T, p shardkey.Pattern) shardkey.Key {
	id := oid(rapid.SampledFrom([]byte{5, 10, 11, 20, 21, 25, 30, 31, 40, 41, 60}).Draw(r, "id"))
	hash := rapid.Int64().Draw(r, "hash")
	switch {
	case p.Len() == 2 && rapid.Bool().Draw(r, "deep"):
		return keyOf(t, p, id, hash)
	case p.Hashed() == 0:
		return keyOf(t, p, hash)
	}
	return keyOf(t, p, id)
}

// randomArgs draws arguments of a kind that are often valid.
func randomArgs(t testing.TB, r *rapid.T, s Situation, kind Kind) (Kind, Args) {
	c := rapid.SampledFrom(s.Table.Collections).Draw(r, "collection")
	i := rapid.IntRange(0, c.Chunks.Len()-1).Draw(r, "chunk")
	j := min(i+rapid.IntRange(1, 3).Draw(r, "more"), c.Chunks.Len()-1)
	bounds := chunkAt(t, s, c.NS, i)
	shard := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "shard")
	project := rapid.SampledFrom([]string{"alpha", "beta", "gamma", "delta"}).Draw(r, "project")
	mode := rapid.SampledFrom([]string{ModeMoves, ModeBalancer}).Draw(r, "mode")
	switch kind {
	case Split:
		if rapid.Bool().Draw(r, "at") {
			return kind, Args{NS: c.NS, At: raw(c, randomKey(t, r, c.Key))}
		}
		return kind, Args{NS: c.NS, Bounds: bounds, Parts: rapid.SampledFrom([]int{0, 0, 2, 3, 5}).Draw(r, "parts")}
	case SplitHot:
		a := Args{NS: c.NS, Bounds: bounds}
		if j > i && rapid.Bool().Draw(r, "several") {
			a = Args{NS: c.NS}
			for n := i; n <= j; n++ {
				a.Chunks = append(a.Chunks, encoded(chunkAt(t, s, c.NS, n)[0]))
			}
		}
		if rapid.IntRange(0, 3).Draw(r, "named") == 0 {
			a.To = shard
		}
		return kind, a
	case SplitProject, Spread:
		return kind, Args{Project: project}
	case Merge:
		return kind, Args{NS: c.NS, Bounds: [2]bson.Raw{bounds[0], chunkAt(t, s, c.NS, j)[1]}}
	case MoveChunk:
		a := Args{NS: c.NS, Bounds: bounds, To: shard}
		if rapid.Bool().Draw(r, "part") {
			a.Min = raw(c, randomKey(t, r, c.Key))
		}
		return kind, a
	case Pin, Isolate:
		return kind, Args{Project: project, Shard: shard, Mode: mode}
	case ZoneSetRange:
		return kind, Args{NS: c.NS, Zone: "eu", Min: raw(c, randomKey(t, r, c.Key)), Max: raw(c, randomKey(t, r, c.Key))}
	case ZoneRemoveRange:
		a := Args{NS: documents, Min: doc(projectAlpha()), Max: doc(projectAlpha())}
		if len(s.Table.Zones) > 0 {
			a.Min, a.Max = s.Table.Zones[0].RawMin, s.Table.Zones[0].RawMax
		}
		return kind, a
	}
	return kind, Args{Shard: shard, Zone: "eu"}
}

func projectAlpha() bson.D { return project(10) }

// A plan that is not blocked can be run on the cluster that it was made from: every
// precondition is true before its command and every proof after it, only what the plan
// lists moves, the numbers afterwards are those of the plan, and its undo restores
// everything, except the balancer's splits.
func TestPlanHasItsStatedEffectAndUndoRestores(t *testing.T) {
	for _, kind := range []Kind{Split, SplitProject, SplitHot, Merge, MoveChunk, Pin, Isolate, Spread, ZoneAddShard, ZoneRemoveShard,
		ZoneSetRange, ZoneRemoveRange} {
		t.Run(string(kind), func(t *testing.T) { doesWhatItSays(t, kind) })
	}
}

// doesWhatItSays tests one kind so often that some plans can run, whatever the seed.
// Drawing the kinds at random sometimes left out the rarest one.
func doesWhatItSays(t *testing.T, asking Kind) {
	ran, undone := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		s := randomCluster(t, r)
		kind, args := randomArgs(t, r, s, asking)
		d, resolved, err := PlanChange(s, kind, args)
		if err != nil {
			if k := fault.Of(err); k != fault.Invalid && k != fault.NotFound {
				r.Fatalf("%s: %v", kind, err)
			}
			return
		}
		checkTexts(r, d)
		if d.Blocked() {
			return
		}
		m := modelOf(t, s)
		before := m.picture()
		if err := m.run(d.Steps, d.Effect); err != nil {
			r.Fatalf("%s: %v\n%s", kind, err, before)
		}
		ran++
		after := m.now()
		onlyWhatItSays(r, s, after, d)
		for _, e := range d.Effect.Shards {
			n := int64(0)
			for _, ns := range namespacesOf(d) {
				n += int64(after.Table.Collection(ns).Chunks.CountByShard()[e.Shard])
			}
			must.That(r, n == e.ChunksAfter || slices.Contains(ops(d), operation.OpSplitMedian),
				"%s: %s has %d chunks after, the plan says %d\n%s", kind, e.Shard, n, e.ChunksAfter, before)
		}
		if again, _, err := PlanChange(s, kind, resolved); err != nil || len(again.Steps) != len(d.Steps) {
			r.Fatalf("%s: planned again from its own arguments: %d steps for %d, %v", kind, len(again.Steps), len(d.Steps), err)
		}
		if !d.Undo.Possible {
			return
		}
		back, err := PlanUndo(after, kind, resolved, d.Summary, d.Steps, d.Effect)
		must.That(r, err == nil, "undo %s: %v", kind, err)
		checkTexts(r, back)
		// If the donor is draining, nothing can move back to it.
		if v, _ := worstVerdict(back, "recipient"); v == Block {
			return
		}
		if err := m.run(back.Steps, back.Effect); err != nil {
			r.Fatalf("undo %s: %v\n%s", kind, err, before)
		}
		undone++
		if slices.Contains(ops(d), operation.OpAwait) {
			// The balancer's splits at the bounds of zones stay.
			onlyWhatItSays(r, s, m.now(), Draft{})
			return
		}
		if got := m.picture(); got != before {
			r.Fatalf("%s and its undo leave\n%s\nfor\n%s", kind, got, before)
		}
	})
	expect.That(t, testing.Short() || ran != 0 && undone != 0,
		"%d plans ran, %d were undone: nothing is tested", ran, undone)
	t.Logf("%d plans ran, %d were undone", ran, undone)
}

// namespacesOf returns the collections whose chunks a draft changes.
func namespacesOf(d Draft) []topology.Namespace {
	var out []topology.Namespace
	for _, s := range d.Steps {
		switch s.Op {
		case operation.OpSplitAt, operation.OpSplitMedian, operation.OpMerge, operation.OpMove, operation.OpMoveRange, operation.OpAwait:
			out = append(out, s.NS)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// onlyWhatItSays checks that the owner of a key changes exactly where the plan has a move.
func onlyWhatItSays(r *rapid.T, before, after Situation, d Draft) {
	for _, c := range after.Table.Collections {
		for _, ch := range c.Chunks.All() {
			_, was := before.Table.Collection(c.NS).Chunks.Find(ch.Min)
			want := was.Shard
			for _, m := range d.Effect.Moves {
				lo, errLo := c.Key.Bound(m.Min)
				hi, errHi := c.Key.Bound(m.Max)
				if m.NS == c.NS && errLo == nil && errHi == nil && lo.Compare(ch.Min) <= 0 && ch.Min.Compare(hi) < 0 {
					want = m.To
				}
			}
			must.That(r, ch.Shard == want,
				"%s: %s is on %s, the plan says %s", c.NS, c.Key.Display(ch.Min), ch.Shard, want)
		}
	}
}
