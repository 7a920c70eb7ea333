package simcluster

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

func snapshotMajority() *options.TransactionOptionsBuilder {
	return options.Transaction().SetReadConcern(readconcern.Snapshot()).SetWriteConcern(writeconcern.Majority())
}

// begin starts a transaction and returns the context of its statements.
func begin(t *testing.T, client *mongo.Client) (context.Context, *mongo.Session) {
	t.Helper()
	s, err := client.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.EndSession(context.Background()) })
	if err := s.StartTransaction(snapshotMajority()); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	n, _ := wholeNumber(doc.Lookup(name))
	return int(n)
}

func insert(t *testing.T, ctx context.Context, coll *mongo.Collection, docs ...any) {
	t.Helper()
	if _, err := coll.InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
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

func TestWithTransactionWritesAllOrNothing(t *testing.T) {
	client := connect(t, emptyCluster(t))
	coll := client.Database("store").Collection("things")
	s, err := client.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.EndSession(t.Context())
	_, err = s.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
		insert(t, ctx, coll, d("_id", 1, "n", 1), d("_id", 2, "n", 1))
		set(t, ctx, coll, 2, 5)
		if n := numberIn(t, ctx, coll, 2, "n"); n != 5 {
			t.Errorf("the transaction reads %d of its own write, want 5", n)
		}
		if n := numberIn(t, t.Context(), coll, 2, "n"); n != -1 {
			t.Errorf("a reader outside sees %d before the commit", n)
		}
		return nil, nil
	}, snapshotMajority())
	if err != nil {
		t.Fatal(err)
	}
	if n := numberIn(t, t.Context(), coll, 2, "n"); n != 5 {
		t.Errorf("%d after the commit, want 5", n)
	}
	failure := errors.New("changed my mind")
	_, err = s.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
		set(t, ctx, coll, 1, 7)
		if _, err := coll.DeleteOne(ctx, d("_id", 2)); err != nil {
			t.Error(err)
		}
		return nil, failure
	}, snapshotMajority())
	if !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
	if a, b := numberIn(t, t.Context(), coll, 1, "n"), numberIn(t, t.Context(), coll, 2, "n"); a != 1 || b != 5 {
		t.Errorf("%d and %d after the abort, want 1 and 5", a, b)
	}
}

func TestSnapshotDoesNotSeeLaterWrites(t *testing.T) {
	_, coll := withTwentyDocuments(t)
	ctx, s := begin(t, coll.Database().Client())
	if n, err := coll.Find(ctx, d("k", d("$lt", 30))); err != nil || n.RemainingBatchLength() != 2 {
		t.Fatal(n, err)
	}
	insert(t, t.Context(), coll, d("_id", 77, "k", 1))
	if _, err := coll.DeleteOne(t.Context(), d("k", 0)); err != nil {
		t.Fatal(err)
	}
	cur, err := coll.Aggregate(ctx, bson.A{d("$group", d("_id", nil, "n", d("$sum", 1), "low", d("$min", "$k")))})
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ N, Low int }
	if err := cur.All(ctx, &rows); err != nil || len(rows) != 1 || rows[0].N != 20 || rows[0].Low != 0 {
		t.Errorf("%v %v, want 20 documents from 0 on", rows, err)
	}
	if err := s.CommitTransaction(ctx); err != nil {
		t.Error(err)
	}
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
	if _, err := coll.UpdateOne(first, d("_id", 3), inc); err != nil {
		t.Fatal(err)
	}
	_, err := coll.UpdateOne(second, d("_id", 3), inc)
	wantTransient(t, err, 112)
	wantTransient(t, s2.CommitTransaction(second), 251)
	if err := s1.CommitTransaction(first); err != nil {
		t.Fatal(err)
	}
	_, err = coll.DeleteOne(third, d("_id", 3))
	wantTransient(t, err, 112)
	if err := s3.AbortTransaction(third); err != nil {
		t.Error(err)
	}
	if n := numberIn(t, t.Context(), coll, 3, "n"); n != 1 {
		t.Errorf("n is %d, want 1", n)
	}
}

func TestDuplicateKeyAbortsTheTransaction(t *testing.T) {
	coll := connect(t, emptyCluster(t)).Database("store").Collection("things")
	insert(t, t.Context(), coll, d("_id", 1, "n", 1))
	ctx, s := begin(t, coll.Database().Client())
	set(t, ctx, coll, 1, 2)
	_, err := coll.InsertOne(ctx, d("_id", 1))
	wantCode(t, err, 11000, "E11000")
	wantTransient(t, s.CommitTransaction(ctx), 251)
	if n := numberIn(t, t.Context(), coll, 1, "n"); n != 1 {
		t.Errorf("n is %d, want 1", n)
	}
}

func TestCommitMayBeRepeated(t *testing.T) {
	coll := connect(t, emptyCluster(t)).Database("store").Collection("things")
	ctx, s := begin(t, coll.Database().Client())
	insert(t, ctx, coll, d("_id", 1, "n", 1))
	for range 3 {
		if err := s.CommitTransaction(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := coll.CountDocuments(t.Context(), bson.D{}); err != nil || n != 1 {
		t.Errorf("%d documents, %v, want one", n, err)
	}
}
