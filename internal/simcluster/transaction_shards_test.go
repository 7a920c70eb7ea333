package simcluster

import (
	"context"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func TestTransactionWritesOnAllShards(t *testing.T) {
	c, coll := withTwentyDocuments(t)
	s, err := coll.Database().Client().StartSession()
	must(t, err)
	defer s.EndSession(t.Context())
	if _, err := s.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
		if r, err := coll.UpdateMany(ctx, bson.D{}, d("$set", d("seen", true))); err != nil || r.ModifiedCount != 20 {
			t.Errorf("%+v %v", r, err)
		}
		insert(t, ctx, coll, d("_id", 100, "k", 5), d("_id", 101, "k", 105), d("_id", 102, "k", 205))
		_, err := coll.DeleteMany(ctx, d("k", d("$gte", 150, "$lt", 200)))
		return nil, err
	}, snapshotMajority()); err != nil {
		t.Fatal(err)
	}
	if n, err := coll.CountDocuments(t.Context(), d("seen", true)); err != nil || n != 16 {
		t.Errorf("%d documents changed, %v, want 16", n, err)
	}
	for shard, id := range map[string]int{"shard-rs-1": 100, "shard-rs-2": 101, "shard-rs-3": 102} {
		if got, _ := c.catalog.PlaceOf("db.coll", encode(d("k", id%100*100+5))); got != shard {
			t.Errorf("document %d is on %s, want %s", id, got, shard)
		}
	}
}

func TestMoveOfAChunkEndsTransactionsThatUseIt(t *testing.T) {
	c, coll := withTwentyDocuments(t)
	ctx, s := begin(t, coll.Database().Client())
	if _, err := coll.UpdateOne(ctx, d("_id", 1, "k", 15), d("$set", d("n", 1))); err != nil {
		t.Fatal(err)
	}
	mustRun(t, c, "admin", d("moveChunk", "db.coll", "find", d("k", 15), "to", "shard-rs-2", "_waitForDelete", true))
	wantTransient(t, s.CommitTransaction(ctx), 251)
	if n := numberIn(t, t.Context(), coll, 1, "n"); n != 0 {
		t.Errorf("n is %d", n)
	}
}

func TestDropWaitsForTransactions(t *testing.T) {
	bubble(t, func(t *testing.T, _ *Cluster, coll *mongo.Collection) {
		ctx, s := begin(t, coll.Database().Client())
		numberIn(t, ctx, coll, 1, "n")
		dropped := make(chan error, 1)
		go func() { dropped <- coll.Drop(context.Background()) }()
		synctest.Wait()
		set(t, ctx, coll, 1, 3)
		if err := s.CommitTransaction(ctx); err != nil {
			t.Error(err)
		}
		if err := <-dropped; err != nil {
			t.Error(err)
		}
	})
}
