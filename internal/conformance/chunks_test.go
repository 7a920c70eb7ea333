package conformance_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// p is the key {p: n} as a document.
func p(n any) bson.Raw { return raw(bson.D{{Key: "p", Value: n}}) }

func TestEveryChangeOfChunksIsReadIncrementally(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shard("ranged", bson.D{{Key: "p", Value: 1}})
		f := w.follow(ns)
		if len(f.chunks) != 1 || f.meta.LegacyChunks == w.atLeast(5, 0) {
			t.Fatalf("%d chunks, legacy %v", len(f.chunks), f.meta.LegacyChunks)
		}
		for n := range 4 {
			must(t, w.admin.SplitAt(w.Context(), run, ns, p(int32(n*10))))
			f.changed("a split")
		}
		if len(f.chunks) != 5 {
			t.Fatalf("%d chunks after 4 splits", len(f.chunks))
		}
		w.needShards(2)
		moved := f.chunks[2]
		to := w.elsewhere(moved.Shard)
		lower, upper := f.bounds(moved)
		must(t, w.admin.MoveChunk(w.Context(), run, topology.Move{NS: ns, Min: lower, Max: upper, To: to}))
		f.changed("a move")
		if got := f.chunks[2]; got.Shard != to || got.Min != moved.Min || got.Max != moved.Max || got.Version.Major <= moved.Version.Major {
			t.Errorf("%v moved to %s is now %v", moved, to, got)
		}
		must(t, w.admin.MergeChunks(w.Context(), run, ns, f.document(f.chunks[3].Min), f.document(f.chunks[4].Max)))
		f.changed("a merge")
		if len(f.chunks) != 4 {
			t.Errorf("%d chunks after a merge of two of 5", len(f.chunks))
		}
	})
}

func TestAMoveToTheSameShardChangesNothing(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shard("ranged", bson.D{{Key: "p", Value: 1}})
		f := w.follow(ns)
		lower, upper := f.bounds(f.chunks[0])
		must(t, w.admin.MoveChunk(w.Context(), run, topology.Move{NS: ns, Min: lower, Max: upper, To: f.chunks[0].Shard}))
		if h := w.head(ns); h.Highest != f.highest {
			t.Errorf("highest version %s, was %s", h.Highest, f.highest)
		}
	})
}

func TestAChunkIsSplitInTheMiddleOfItsDocuments(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shard("ranged", bson.D{{Key: "p", Value: 1}})
		f := w.follow(ns)
		lower, upper := f.bounds(f.chunks[0])
		w.refused(fault.Conflict, w.admin.SplitMedian(w.Context(), run, ns, lower, upper), "split an empty chunk in its middle")
		w.insert(ns, 200, func(i int) bson.D { return bson.D{{Key: "p", Value: int32(i)}} })
		must(t, w.admin.SplitMedian(w.Context(), run, ns, lower, upper))
		f.changed("a split in the middle")
		if len(f.chunks) != 2 {
			t.Fatalf("%d chunks", len(f.chunks))
		}
		at, ok := f.document(f.chunks[0].Max).Lookup("p").Int32OK()
		if !ok || at < 50 || at > 150 {
			t.Errorf("0 … 199 was split at %v", f.document(f.chunks[0].Max))
		}
	})
}

func TestWrongSplitsAreRefused(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shard("ranged", bson.D{{Key: "p", Value: 1}})
		must(t, w.admin.SplitAt(w.Context(), run, ns, p(int32(10))))
		f := w.follow(ns)
		ctx := w.Context()
		if err := w.admin.SplitAt(ctx, run, ns, p(int32(10))); err != nil || !w.atLeast(8, 0) {
			w.refused(fault.Conflict, err, "split where a chunk begins") // the newest servers accept that
		}
		w.refused(fault.Invalid, w.admin.SplitAt(ctx, run, ns, raw(bson.D{{Key: "q", Value: 1}})), "split at another field")
		w.refused(fault.NotFound, w.admin.SplitMedian(ctx, run, ns, p(int32(1)), p(int32(2))), "split a chunk that is none")
		w.refused(fault.NotFound, w.admin.SplitAt(ctx, run, topology.Namespace(w.db+".none"), p(int32(1))), "split no collection")
		if h := w.head(ns); h.Highest != f.highest {
			t.Errorf("refused splits took the version from %s to %s", f.highest, h.Highest)
		}
	})
}

func TestWrongMovesAndMergesAreRefused(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		w.needShards(2)
		ns := w.shard("ranged", bson.D{{Key: "p", Value: 1}})
		ctx := w.Context()
		for n := range 3 {
			must(t, w.admin.SplitAt(ctx, run, ns, p(int32(n*10))))
		}
		f := w.follow(ns)
		own := f.chunks[0].Shard
		to := w.elsewhere(own)
		move := func(lower, upper bson.Raw, to string) error {
			return w.admin.MoveChunk(ctx, run, topology.Move{NS: ns, Min: lower, Max: upper, To: to})
		}
		w.refused(fault.NotFound, move(p(int32(0)), p(int32(10)), "shardboard-none"), "move to no shard")
		w.refused(fault.NotFound, move(p(int32(1)), p(int32(5)), to), "move a chunk that is none")
		w.refused(fault.Invalid, move(raw(bson.D{{Key: "q", Value: 1}}), raw(bson.D{{Key: "q", Value: 2}}), to),
			"move by bounds of another field")
		must(t, move(p(int32(0)), p(int32(10)), to))
		f.changed("a move")
		merge := func(lower, upper any) error { return w.admin.MergeChunks(ctx, run, ns, p(lower), p(upper)) }
		w.refused(fault.Conflict, merge(bson.MinKey{}, int32(10)), "merge chunks of two shards")
		w.refused(fault.Conflict, merge(int32(10), int32(15)), "merge a part of a chunk")
		w.refused(fault.Invalid, merge(int32(20), int32(0)), "merge from above to below")
		w.refused(fault.NotFound, w.admin.ClearJumbo(ctx, run, ns, p(int32(1)), p(int32(2))), "clear the flag of no chunk")
		if h := w.head(ns); h.Highest != f.highest {
			t.Errorf("refused commands took the version from %s to %s", f.highest, h.Highest)
		}
	})
}

func TestARangeIsCutOutOfItsChunkAndMoved(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		w.needShards(2)
		ns := w.shard("ranged", bson.D{{Key: "p", Value: 1}})
		f := w.follow(ns)
		to := w.elsewhere(f.chunks[0].Shard)
		err := w.admin.MoveRange(w.Context(), run, topology.Move{NS: ns, Min: p(int32(10)), Max: p(int32(20)), To: to})
		if !w.atLeast(6, 0) {
			w.refused(fault.NotFound, err, "move a range on a release without it")
			return
		}
		must(t, err)
		f.changed("the move of a range")
		if len(f.chunks) != 3 || f.chunks[1].Shard != to || f.chunks[0].Shard == to || f.chunks[2].Shard == to {
			t.Errorf("%v", f.chunks)
		}
	})
}

func TestChunksOfAShardAreMergedWhereTheReleaseCan(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shard("ranged", bson.D{{Key: "p", Value: 1}})
		must(t, w.admin.SplitAt(w.Context(), run, ns, p(int32(10))))
		f := w.follow(ns)
		if w.simulated {
			time.Sleep(10 * time.Minute) // chunks that changed within the snapshot window are not merged
		}
		err := w.admin.MergeOnShard(w.Context(), run, ns, f.chunks[0].Shard)
		if !w.atLeast(7, 0) {
			w.refused(fault.NotFound, err, "merge on a shard on a release without it")
			return
		}
		must(t, err)
		if w.simulated {
			f.changed("a merge on a shard")
		}
		if n := len(w.follow(ns).chunks); w.simulated && n != 1 {
			t.Errorf("%d chunks", n)
		}
	})
}
