package conformance_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// withoutSuchShard is a name that no shard of a test's cluster has.
const withoutSuchShard = "shardboard_test_nowhere"

// Only refusals are tried on a real cluster: draining one of its shards moves other
// people's data.
func TestUnknownShardIsNotDrained(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ctx, before := w.Context(), w.drainingShards()
		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpBeginRemoval, Shard: withoutSuchShard}),
			"drain an unknown shard")
		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpRemoveShard, Shard: withoutSuchShard}),
			"remove an unknown shard")
		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpStartDraining, Shard: withoutSuchShard}),
			"drain by command, unknown shard or command")
		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpStopDraining, Shard: withoutSuchShard}),
			"stop draining, unknown shard or command")
		expect.EqualSlices(t, w.drainingShards(), before, "draining were %v", before)
	})
}

// drainingShards lists the shards that are draining.
func (w *world) drainingShards() (out []string) {
	w.Helper()
	shards, err := w.source.Shards(w.Context())
	must.Do(w, err)
	for _, s := range shards {
		if s.Draining {
			out = append(out, s.Name)
		}
	}
	return out
}

// shardNames lists all shards.
func (w *world) shardNames() (out []string) {
	w.Helper()
	shards, err := w.source.Shards(w.Context())
	must.Do(w, err)
	for _, s := range shards {
		out = append(out, s.Name)
	}
	slices.Sort(out)
	return out
}

// onEverySimulated runs a test that may drain shards: on the simulated cluster of every
// release, and of 8.3, the first with commands of their own for it.
func onEverySimulated(t *testing.T, test func(*testing.T, *world), change ...func(*simcluster.Options)) {
	for _, release := range append(slices.Clone(releases), "8.3") {
		t.Run(release, func(t *testing.T) {
			o := simcluster.Options{ServerVersion: release, Still: true}
			for _, c := range change {
				c(&o)
			}
			onSimulated(t, o, func(t *testing.T, sim *simcluster.Cluster) { test(t, newWorld(t, simcluster.URI(), sim)) })
		})
	}
}

// remains reads what is left on a shard: chunks and databases.
func (w *world) remains(shard string) [2]string {
	w.Helper()
	got, err := w.client.ReadFact(w.Context(), operation.Fact{Kind: operation.FactRemains, Shard: shard})
	must.Do(w, err)
	return [2]string{got["chunks"], got["databases"]}
}

// Every answer of removeShard is read as what it did, and no method removes a shard that
// it should only drain.
func TestShardIsDrainedEmptiedAndRemoved(t *testing.T) {
	onEverySimulated(t, func(t *testing.T, w *world) {
		ctx, shard := w.Context(), w.shards[2]
		enable := bson.D{{Key: "enableSharding", Value: w.db}, {Key: "primaryShard", Value: shard}}
		must.Do(t, w.data.Database("admin").RunCommand(ctx, enable).Err())
		ns := w.shardCollection("drained", bson.D{{Key: "p", Value: 1}})
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpSplitAt, NS: ns, At: keyDoc(int32(0))}))
		if got := w.remains(shard); got != [2]string{"2", "1"} {
			t.Fatalf("%s has %v, want 2 chunks and 1 database", shard, got)
		}
		drain := operation.OpBeginRemoval
		if w.atLeast(8, 3) {
			drain = operation.OpStartDraining
		}
		must.Do(t, w.send(ctx, operation.Step{Op: drain, Shard: shard}))
		if got := w.drainingShards(); !slices.Equal(got, []string{shard}) {
			t.Fatalf("draining are %v, want %s", got, shard)
		}
		if w.atLeast(8, 3) {
			must.Do(t, w.send(ctx, operation.Step{Op: drain, Shard: shard})) // again: nothing happens
		} else {
			w.expectRefusal(fault.Conflict, w.send(ctx, operation.Step{Op: drain, Shard: shard}), "drain what is draining")
		}
		w.expectRefusal(fault.Conflict, w.send(ctx, operation.Step{Op: operation.OpRemoveShard, Shard: shard}),
			"remove a shard with chunks")

		for _, bounds := range [][2]bson.Raw{
			{keyDoc(bson.MinKey{}), keyDoc(int32(0))}, {keyDoc(int32(0)), keyDoc(bson.MaxKey{})},
		} {
			must.Do(t, w.send(ctx, operation.Step{Op: operation.OpMove, NS: ns, Min: bounds[0], Max: bounds[1], Shard: w.shards[0], Wait: true}))
		}
		if got := w.remains(shard); got != [2]string{"0", "1"} {
			t.Errorf("%s has %v, want 0 chunks and 1 database", shard, got)
		}
		w.expectRefusal(fault.Conflict, w.send(ctx, operation.Step{Op: operation.OpRemoveShard, Shard: shard}),
			"remove the primary shard of a database")
		if got := w.shardNames(); !slices.Equal(got, w.shards) {
			t.Fatalf("the shards are %v, want %v", got, w.shards)
		}

		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpMovePrimary, DB: w.db, Shard: w.shards[0]}))
		if got := w.remains(shard); got != [2]string{"0", "0"} {
			t.Errorf("%s has %v, want nothing", shard, got)
		}
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpRemoveShard, Shard: shard}))
		expect.EqualSlices(t, w.shardNames(), w.shards[:2], "the shards")
		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpRemoveShard, Shard: shard}),
			"remove it again")
	})
}

// Before 8.3 no command ends a draining; RemoveShard of a shard that is not draining must
// not be taken for a removal.
func TestDrainingIsStopped(t *testing.T) {
	onEverySimulated(t, func(t *testing.T, w *world) {
		ctx, shard := w.Context(), w.shards[2]
		if !w.atLeast(8, 3) {
			w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpStartDraining, Shard: shard}), "start draining before 8.3")
			w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpStopDraining, Shard: shard}), "stop draining before 8.3")
			if got := w.drainingShards(); len(got) != 0 {
				t.Errorf("draining are %v, want none", got)
			}
			w.expectRefusal(fault.Conflict, w.send(ctx, operation.Step{Op: operation.OpRemoveShard, Shard: shard}),
				"remove a shard that is not draining")
			expect.EqualSlices(t, w.shardNames(), w.shards, "the shards")
			return
		}
		w.expectRefusal(fault.Conflict, w.send(ctx, operation.Step{Op: operation.OpRemoveShard, Shard: shard}),
			"remove a shard that is not draining")
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpStartDraining, Shard: shard}))
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpStopDraining, Shard: shard}))
		if got := w.drainingShards(); len(got) != 0 {
			t.Errorf("draining are %v, want none", got)
		}
	})
}

func TestLastShardIsNotDrained(t *testing.T) {
	onEverySimulated(t, func(t *testing.T, w *world) {
		ctx := w.Context()
		drain := operation.OpBeginRemoval
		if w.atLeast(8, 3) {
			drain = operation.OpStartDraining
		}
		must.Do(t, w.send(ctx, operation.Step{Op: drain, Shard: w.shards[1]}))
		must.Do(t, w.send(ctx, operation.Step{Op: drain, Shard: w.shards[2]}))
		w.expectRefusal(fault.Conflict, w.send(ctx, operation.Step{Op: drain, Shard: w.shards[0]}), "drain the last shard")
		expect.EqualSlices(t, w.drainingShards(), w.shards[1:], "draining")
	})
}
