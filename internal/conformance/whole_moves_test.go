package conformance_test

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// plainCollection makes a collection that is not sharded, with n documents.
func (w *world) plainCollection(name string, n int) topology.Namespace {
	w.Helper()
	ns := topology.Namespace(w.db + "." + name)
	docs := make([]any, n)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}, {Key: "p", Value: i}}
	}
	must.Do(w, must.Err(w.data.Database(w.db).Collection(name).InsertMany(w.Context(), docs)))
	return ns
}

// place reads where a collection is.
func (w *world) place(ns topology.Namespace) map[string]string {
	w.Helper()
	got, err := w.client.ReadFact(w.Context(), operation.Fact{Kind: operation.FactPlace, NS: ns})
	must.Do(w, err)
	return got
}

// documents counts the documents of a collection through mongos.
func (w *world) documents(ns topology.Namespace) int64 {
	w.Helper()
	n, err := w.data.Database(ns.Database()).Collection(ns.Collection()).CountDocuments(w.Context(), bson.D{})
	must.Do(w, err)
	return n
}

func TestPrimaryIsMovedWithItsUnshardedCollections(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		w.needShards(2)
		ctx := w.Context()
		sharded := w.shardCollection("sharded", bson.D{{Key: "p", Value: 1}})
		plain := w.plainCollection("plain", 50)
		before := w.place(plain)
		from, to := before["shard"], w.otherShard(before["shard"])
		owner := w.follow(sharded).chunks[0].Shard

		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpMovePrimary, DB: w.db, Shard: withoutSuchShard}),
			"move to an unknown shard")
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpMovePrimary, DB: w.db, Shard: from})) // where it is: nothing happens
		version := w.databaseFact()["version"]
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpMovePrimary, DB: w.db, Shard: to}))
		if got := w.databaseFact(); got["primary"] != to || got["version"] == version {
			t.Errorf("the database is %v, want primary %s and a version after %s", got, to, version)
		}
		if got := w.place(plain); got["shard"] != to || got["sharded"] != "false" {
			t.Errorf("the collection is %v, want on %s", got, to)
		}
		expect.Equal(t, w.documents(plain), 50, "documents after the move")
		if got := w.follow(sharded).chunks[0].Shard; got != owner {
			t.Errorf("the sharded collection went from %s to %s", owner, got)
		}
	})
}

// databaseFact reads the state of the test's database.
func (w *world) databaseFact() map[string]string {
	w.Helper()
	got, err := w.client.ReadFact(w.Context(), operation.Fact{Kind: operation.FactDatabase, DB: w.db})
	must.Do(w, err)
	return got
}

// Moves of whole collections are reshardings, which take five minutes on a real server.
func TestWholeCollectionsAreMoved(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		w.needShards(2)
		ctx := w.Context()
		sharded := w.shardCollection("sharded", bson.D{{Key: "p", Value: 1}})
		w.insertDocuments(sharded, 60, func(i int) bson.D { return bson.D{{Key: "p", Value: int32(i)}} })
		plain := w.plainCollection("plain", 50)
		to := w.otherShard(w.place(plain)["shard"])
		if !w.atLeast(8, 0) {
			for doing, err := range map[string]error{
				"move before 8.0":                w.send(ctx, operation.Step{Op: operation.OpMoveCollection, NS: plain, Shard: to}),
				"unshard before 8.0":             w.send(ctx, operation.Step{Op: operation.OpUnshard, NS: sharded, Shard: to}),
				"abort a move before 8.0":        w.send(ctx, operation.Step{Op: operation.OpAbortMove, NS: plain}),
				"abort an unsharding before 8.0": w.send(ctx, operation.Step{Op: operation.OpAbortUnshard, NS: sharded}),
			} {
				w.expectRefusal(fault.NotFound, err, doing)
			}
			return
		}
		w.expectRefusal(fault.Conflict, w.send(ctx, operation.Step{Op: operation.OpAbortMove, NS: plain}), "abort no move")
		w.expectRefusal(fault.Conflict, w.send(ctx, operation.Step{Op: operation.OpAbortUnshard, NS: sharded}), "abort no unsharding")
		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpMoveCollection, NS: plain, Shard: withoutSuchShard}),
			"move to an unknown shard")
		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpMoveCollection,
			NS: topology.Namespace(w.db + ".absent"), Shard: to}), "move what is not there")
		w.expectRefusal(fault.NotFound, w.send(ctx, operation.Step{Op: operation.OpUnshard, NS: plain, Shard: to}), "unshard what is not sharded")
		if !w.simulated && os.Getenv("SHARDBOARD_LONG") == "" {
			t.Skip("a real server takes at least five minutes; SHARDBOARD_LONG is not set")
		}

		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpMoveCollection, NS: plain, Shard: to}))
		if got := w.place(plain); got["shard"] != to || got["sharded"] != "false" {
			t.Errorf("the collection is %v, want unsharded on %s", got, to)
		}
		expect.Equal(t, w.documents(plain), 50, "documents after the move")
		// A tracked collection stays where it is when the primary moves.
		primary := w.databaseFact()["primary"]
		if third := slices.IndexFunc(w.shards, func(s string) bool { return s != primary && s != to }); third >= 0 {
			must.Do(t, w.send(ctx, operation.Step{Op: operation.OpMovePrimary, DB: w.db, Shard: w.shards[third]}))
			if got := w.place(plain); got["shard"] != to {
				t.Errorf("after the primary moved, the collection is %v, want on %s", got, to)
			}
		}

		before := w.head(sharded).Incarnation
		must.Do(t, w.send(ctx, operation.Step{Op: operation.OpUnshard, NS: sharded, Shard: to}))
		if got := w.place(sharded); got["shard"] != to || got["sharded"] != "false" || got["uuid"] == operation.UUIDText(before.UUID) {
			t.Errorf("the collection is %v, want unsharded on %s with another uuid", got, to)
		}
		expect.Equal(t, w.documents(sharded), 60, "documents after the unsharding")
	})
}

// An abort ends the command that waits for the operation.
func TestMoveOfAWholeCollectionIsAborted(t *testing.T) {
	onEverySimulated(t, func(t *testing.T, w *world) {
		if !w.atLeast(8, 0) {
			t.Skip("no such command")
		}
		ctx := w.Context()
		plain := w.plainCollection("plain", 50)
		from := w.place(plain)["shard"]
		w.awaitAborted(func() error {
			return w.send(ctx, operation.Step{Op: operation.OpMoveCollection, NS: plain, Shard: w.otherShard(from)})
		},
			func() error { return w.send(ctx, operation.Step{Op: operation.OpAbortMove, NS: plain}) })
		if got := w.place(plain); got["shard"] != from {
			t.Errorf("the collection is %v, want on %s", got, from)
		}
		sharded := w.shardCollection("sharded", bson.D{{Key: "p", Value: 1}})
		w.awaitAborted(func() error {
			return w.send(ctx, operation.Step{Op: operation.OpUnshard, NS: sharded, Shard: w.shards[1]})
		},
			func() error {
				return w.send(ctx, operation.Step{Op: operation.OpAbortUnshard, NS: sharded})
			})
		if got := w.place(sharded); got["sharded"] != "true" {
			t.Errorf("the collection is %v, want sharded", got)
		}
	}, func(o *simcluster.Options) { o.Still = false })
}

// awaitAborted begins an operation, aborts it after a while, and waits for both.
func (w *world) awaitAborted(begin, abort func() error) {
	w.Helper()
	ended := make(chan error, 1)
	go func() { ended <- begin() }()
	time.Sleep(30 * time.Second)
	must.Do(w, abort())
	err := <-ended
	w.expectRefusal(fault.Conflict, err, "what was aborted")
	expect.That(w, errors.Is(err, operation.ErrReshardingAborted), "what was aborted answered %v", err)
}
