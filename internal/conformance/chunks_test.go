package conformance_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// keyDoc returns the key {p: n} as a document.
func keyDoc(n any) bson.Raw { return marshal(bson.D{{Key: "p", Value: n}}) }

func TestEveryChangeOfChunksIsReadIncrementally(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		f := w.follow(ns)
		if len(f.chunks) != 1 || f.meta.LegacyChunks == w.atLeast(5, 0) {
			t.Fatalf("%d chunks, legacy %v", len(f.chunks), f.meta.LegacyChunks)
		}
		for n := range 4 {
			must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpSplitAt, NS: ns, At: keyDoc(int32(n * 10))}))
			f.readChanges("a split")
		}
		must.That(t, len(f.chunks) == 5, "%d chunks after 4 splits, want 5", len(f.chunks))
		w.needShards(2)
		moved := f.chunks[2]
		to := w.otherShard(moved.Shard)
		lower, upper := f.boundDocuments(moved)
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpMove, NS: ns, Min: lower, Max: upper, Shard: to}))
		f.readChanges("a move")
		if got := f.chunks[2]; got.Shard != to || got.Min != moved.Min || got.Max != moved.Max || got.Version.Major <= moved.Version.Major {
			t.Errorf("%v moved to %s is now %v", moved, to, got)
		}
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpMerge, NS: ns, Min: f.keyDoc(f.chunks[3].Min),
			Max: f.keyDoc(f.chunks[4].Max)}))
		f.readChanges("a merge")
		expect.Equal(t, len(f.chunks), 4, "chunks after a merge of two of 5")
	})
}

func TestAMoveToTheSameShardChangesNothing(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		f := w.follow(ns)
		lower, upper := f.boundDocuments(f.chunks[0])
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpMove, NS: ns, Min: lower, Max: upper, Shard: f.chunks[0].Shard}))
		if h := w.head(ns); h.Highest != f.highest {
			t.Errorf("highest version %s, was %s", h.Highest, f.highest)
		}
	})
}

func TestMedianSplitIsInTheMiddleOfTheDocuments(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		f := w.follow(ns)
		lower, upper := f.boundDocuments(f.chunks[0])
		w.expectRefusal(fault.Conflict, w.send(w.Context(), operation.Step{Op: operation.OpSplitMedian, NS: ns, Min: lower, Max: upper}),
			"split an empty chunk in its middle")
		w.insertDocuments(ns, 200, func(i int) bson.D { return bson.D{{Key: "p", Value: int32(i)}} })
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpSplitMedian, NS: ns, Min: lower, Max: upper}))
		f.readChanges("a split in the middle")
		must.That(t, len(f.chunks) == 2, "%d chunks, want 2", len(f.chunks))
		at, ok := f.keyDoc(f.chunks[0].Max).Lookup("p").Int32OK()
		if !ok || at < 50 || at > 150 {
			t.Errorf("0 … 199 was split at %v", f.keyDoc(f.chunks[0].Max))
		}
	})
}

func TestInvalidSplitsAreRefused(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpSplitAt, NS: ns, At: keyDoc(int32(10))}))
		f := w.follow(ns)
		ctx := w.Context()
		if err := w.send(ctx, operation.Step{Op: operation.OpSplitAt, NS: ns, At: keyDoc(int32(10))}); err != nil || !w.atLeast(8, 0) {
			w.expectRefusal(fault.Conflict, err, "split where a chunk begins") // the newest servers accept that
		}
		w.expectRefusal(fault.Invalid, w.send(ctx, operation.Step{Op: operation.OpSplitAt, NS: ns, At: marshal(bson.D{{Key: "q",
			Value: 1}})}), "split at another field")
		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpSplitMedian, NS: ns, Min: keyDoc(int32(1)),
			Max: keyDoc(int32(2))}), "split a chunk that is none")
		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpSplitAt, NS: topology.Namespace(w.db + ".none"),
			At: keyDoc(int32(1))}), "split no collection")
		if h := w.head(ns); h.Highest != f.highest {
			t.Errorf("refused splits took the version from %s to %s", f.highest, h.Highest)
		}
	})
}

func TestInvalidMovesAndMergesAreRefused(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		w.needShards(2)
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		ctx := w.Context()
		for n := range 3 {
			must.Do(t, w.send(ctx, operation.Step{Op: operation.OpSplitAt, NS: ns, At: keyDoc(int32(n * 10))}))
		}
		f := w.follow(ns)
		own := f.chunks[0].Shard
		to := w.otherShard(own)
		move := func(lower, upper bson.Raw, to string) error {
			return w.send(ctx, operation.Step{Op: operation.OpMove, NS: ns, Min: lower, Max: upper, Shard: to})
		}
		w.expectRefusal(fault.NotFound, move(keyDoc(int32(0)), keyDoc(int32(10)), "shardboard-none"), "move to no shard")
		w.expectRefusal(fault.NotFound, move(keyDoc(int32(1)), keyDoc(int32(5)), to), "move a chunk that is none")
		w.expectRefusal(fault.Invalid, move(marshal(bson.D{{Key: "q", Value: 1}}), marshal(bson.D{{Key: "q", Value: 2}}), to),
			"move by bounds of another field")
		must.Do(t, move(keyDoc(int32(0)), keyDoc(int32(10)), to))
		f.readChanges("a move")
		merge := func(lower, upper any) error {
			return w.send(ctx, operation.Step{Op: operation.OpMerge, NS: ns, Min: keyDoc(lower), Max: keyDoc(upper)})
		}
		w.expectRefusal(fault.Conflict, merge(bson.MinKey{}, int32(10)), "merge chunks of two shards")
		w.expectRefusal(fault.Conflict, merge(int32(10), int32(15)), "merge a part of a chunk")
		w.expectRefusal(fault.Invalid, merge(int32(20), int32(0)), "merge from above to below")
		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpClearJumbo, NS: ns, Min: keyDoc(int32(1)),
			Max: keyDoc(int32(2))}), "clear the flag of no chunk")
		if h := w.head(ns); h.Highest != f.highest {
			t.Errorf("refused commands took the version from %s to %s", f.highest, h.Highest)
		}
	})
}

func TestMoveRangeSplitsTheChunkAndMovesTheRange(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		w.needShards(2)
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		f := w.follow(ns)
		to := w.otherShard(f.chunks[0].Shard)
		err := w.send(w.Context(), operation.Step{Op: operation.OpMoveRange, NS: ns, Min: keyDoc(int32(10)), Max: keyDoc(int32(20)), Shard: to})
		if !w.atLeast(6, 0) {
			w.expectRefusal(fault.NotFound, err, "move a range on a release without it")
			return
		}
		must.Do(t, err)
		f.readChanges("the move of a range")
		if len(f.chunks) != 3 || f.chunks[1].Shard != to || f.chunks[0].Shard == to || f.chunks[2].Shard == to {
			t.Errorf("got %v, want len 3, [1].Shard %v, [0].Shard not %v, [2].Shard not %v", f.chunks, to, to, to)
		}
	})
}

func TestMergeAllChunksMergesWhereTheReleaseSupportsIt(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		must.Do(t, w.send(w.Context(), operation.Step{Op: operation.OpSplitAt, NS: ns, At: keyDoc(int32(10))}))
		f := w.follow(ns)
		if w.simulated {
			time.Sleep(10 * time.Minute) // chunks that changed within the snapshot window are not merged
		}
		if !w.atLeast(7, 0) {
			t.Skip("without the command")
		}
		must.Do(t, w.data.Database("admin").RunCommand(w.Context(),
			bson.D{{Key: "mergeAllChunksOnShard", Value: ns}, {Key: "shard", Value: f.chunks[0].Shard}}).Err())
		if w.simulated {
			f.readChanges("a merge on a shard")
		}
		if n := len(w.follow(ns).chunks); w.simulated && n != 1 {
			t.Errorf("%d chunks", n)
		}
	})
}
