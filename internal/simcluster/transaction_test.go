package simcluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func snapshotMajority() *options.TransactionOptionsBuilder {
	return options.Transaction().SetReadConcern(readconcern.Snapshot()).SetWriteConcern(writeconcern.Majority())
}

// begin starts a transaction and returns the context of its statements.
func begin(t *testing.T, client *mongo.Client) (context.Context, *mongo.Session) {
	t.Helper()
	s, err := client.StartSession()
	must.Do(t, err)
	t.Cleanup(func() { s.EndSession(context.Background()) })
	must.Do(t, s.StartTransaction(snapshotMajority()))
	return mongo.NewSessionContext(t.Context(), s), s
}

// numberIn reads a number of one document, -1 when there is no such document.
func numberIn(t *testing.T, ctx context.Context, coll *mongo.Collection, id any, name string) int {
	t.Helper()
	var doc bson.Raw
	err := coll.FindOne(ctx, d("_id", id)).Decode(&doc)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return -1
	}
	must.Do(t, err)
	n, _ := wholeNumber(doc.Lookup(name))
	return int(n)
}

func insert(t *testing.T, ctx context.Context, coll *mongo.Collection, docs ...any) {
	t.Helper()
	must.Do(t, must.Err(coll.InsertMany(ctx, docs)))
}

func set(t *testing.T, ctx context.Context, coll *mongo.Collection, id any, n int) {
	t.Helper()
	if r, err := coll.UpdateByID(ctx, id, d("$set", d("n", n))); err != nil || r.MatchedCount != 1 {
		t.Fatalf("set %v to %d: %+v %v", id, n, r, err)
	}
}

func wantTransient(t *testing.T, err error, code int) {
	t.Helper()
	var labels mongo.LabeledError
	if got, _ := serverCode(err); got != code || !errors.As(err, &labels) || !labels.HasErrorLabel("TransientTransactionError") {
		t.Errorf("error %v, want code %d with the label TransientTransactionError", err, code)
	}
}

func TestSnapshotDoesNotSeeLaterWrites(t *testing.T) {
	_, coll := withTwentyDocuments(t)
	ctx, s := begin(t, coll.Database().Client())
	if n, err := coll.Find(ctx, d("k", d("$lt", 30))); err != nil || n.RemainingBatchLength() != 2 {
		t.Fatal(n, err)
	}
	insert(t, t.Context(), coll, d("_id", 77, "k", 1))
	must.Do(t, must.Err(coll.DeleteOne(t.Context(), d("k", 0))))
	cur, err := coll.Aggregate(ctx, bson.A{d("$group", d("_id", nil, "n", d("$sum", 1), "low", d("$min", "$k")))})
	must.Do(t, err)
	var rows []struct{ N, Low int }
	if err := cur.All(ctx, &rows); err != nil || len(rows) != 1 || rows[0].N != 20 || rows[0].Low != 0 {
		t.Errorf("%v %v, want 20 documents from 0 on", rows, err)
	}
	expect.NoError(t, s.CommitTransaction(ctx), "CommitTransaction")
}

func TestSecondWriterOfADocumentHasAWriteConflict(t *testing.T) {
	_, coll := withTwentyDocuments(t)
	client := coll.Database().Client()
	first, s1 := begin(t, client)
	second, s2 := begin(t, client)
	third, s3 := begin(t, client)
	for _, ctx := range []context.Context{first, second, third} {
		numberIn(t, ctx, coll, 0, "n") // takes the snapshot
	}
	inc := d("$inc", d("n", 1))
	must.Do(t, must.Err(coll.UpdateOne(first, d("_id", 3), inc)))
	_, err := coll.UpdateOne(second, d("_id", 3), inc)
	wantTransient(t, err, 112)
	wantTransient(t, s2.CommitTransaction(second), 251)
	must.Do(t, s1.CommitTransaction(first))
	_, err = coll.DeleteOne(third, d("_id", 3))
	wantTransient(t, err, 112)
	expect.NoError(t, s3.AbortTransaction(third), "AbortTransaction")
	expect.Equal(t, numberIn(t, t.Context(), coll, 3, "n"), 1, "n")
}

func TestTransactionWritesOnAllShards(t *testing.T) {
	c, coll := withTwentyDocuments(t)
	s, err := coll.Database().Client().StartSession()
	must.Do(t, err)
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
	must.Do(t, must.Err(coll.UpdateOne(ctx, d("_id", 1, "k", 15), d("$set", d("n", 1)))))
	mustRun(t, c, "admin", d("moveChunk", "db.coll", "find", d("k", 15), "to", "shard-rs-2", "_waitForDelete", true))
	wantTransient(t, s.CommitTransaction(ctx), 251)
	expect.Equal(t, numberIn(t, t.Context(), coll, 1, "n"), 0, "n")
}

func TestDropWaitsForTransactions(t *testing.T) {
	bubble(t, func(t *testing.T, _ *Cluster, coll *mongo.Collection) {
		ctx, s := begin(t, coll.Database().Client())
		numberIn(t, ctx, coll, 1, "n")
		dropped := make(chan error, 1)
		go func() { dropped <- coll.Drop(context.Background()) }()
		synctest.Wait()
		set(t, ctx, coll, 1, 3)
		expect.NoError(t, s.CommitTransaction(ctx), "CommitTransaction")
		expect.NoError(t, <-dropped, "the end")
	})
}
