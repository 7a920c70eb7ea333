package simcluster

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// withTwentyDocuments inserts {_id: i, k: 15i} for i in [0, 20) into a sharded
// collection split at 100 and 200.
func withTwentyDocuments(t *testing.T) (*Cluster, *mongo.Collection) {
	t.Helper()
	c := emptyCluster(t)
	shardIntoThree(t, c)
	coll := connect(t, c).Database("db").Collection("coll")
	var docs []any
	for i := range 20 {
		docs = append(docs, d("_id", i, "k", 15*i))
	}
	must.Do(t, must.Err(coll.InsertMany(t.Context(), docs)))
	return c, coll
}

// serverCode returns the error's server code and text, or 0 if it has none.
func serverCode(err error) (int, string) {
	var we mongo.WriteException
	if errors.As(err, &we) && len(we.WriteErrors) > 0 {
		return we.WriteErrors[0].Code, we.WriteErrors[0].Message
	}
	var ce mongo.CommandError
	if errors.As(err, &ce) {
		return int(ce.Code), ce.Message
	}
	return 0, ""
}

func wantCode(t *testing.T, err error, want int, text string) {
	t.Helper()
	got, message := serverCode(err)
	if got != want || !strings.Contains(message, text) {
		t.Errorf("error %d %q (%v), want %d with %q", got, message, err, want, text)
	}
}

func TestUpdatesAreTargetedByTheRulesOf50(t *testing.T) {
	_, coll := withTwentyDocuments(t)
	ctx := t.Context()
	set := d("$set", d("seen", true))
	for name, filter := range map[string]bson.D{"by shard key": d("k", 150), "by _id": d("_id", 10),
		"by a range on one shard": d("k", d("$gt", 120, "$lt", 199))} {
		if r, err := coll.UpdateOne(ctx, filter, set); err != nil || r.MatchedCount != 1 {
			t.Errorf("%s: %+v, %v, want r.MatchedCount 1", name, r, err)
		}
	}
	_, err := coll.UpdateOne(ctx, d("seen", true), set)
	wantCode(t, err, 72, "but this update targeted 3 shards. Update request: { q: { seen: true }, u: { $set: { seen: "+
		"true } }, multi: false, upsert: false }, shard key pattern: { k: 1 }")
	r, err := coll.UpdateMany(ctx, d("k", d("$gte", 0)), d("$inc", d("n", 1)))
	if err != nil || r.MatchedCount != 20 || r.ModifiedCount != 20 {
		t.Errorf("many: %+v, %v, want MatchedCount 20, ModifiedCount 20", r, err)
	}
	_, err = coll.UpdateOne(ctx, d("_id", 99), set, options.UpdateOne().SetUpsert(true))
	wantCode(t, err, 61, "Failed to target upsert by query :: could not extract exact shard key")
	r, err = coll.UpdateOne(ctx, d("k", 999), d("$setOnInsert", d("fresh", true)), options.UpdateOne().SetUpsert(true))
	expect.That(t, err == nil && r.UpsertedCount == 1, "upsert: %+v, %v, want UpsertedCount 1", r, err)
	var doc struct {
		K     int
		Fresh bool
	}
	if err := coll.FindOne(ctx, d("_id", r.UpsertedID)).Decode(&doc); err != nil || doc.K != 999 || !doc.Fresh {
		t.Errorf("upserted %+v, %v, want K 999, Fresh true", doc, err)
	}
	if _, err := coll.ReplaceOne(ctx, d("_id", 3), d("_id", 3, "k", 45, "replaced", true)); err != nil {
		t.Errorf("replacement targeted by its own key: %v", err)
	}
}

func TestDeletesAreTargetedByTheRulesOf50(t *testing.T) {
	_, coll := withTwentyDocuments(t)
	ctx := t.Context()
	_, err := coll.DeleteOne(ctx, d("k", d("$gt", 120, "$lt", 199)))
	wantCode(t, err, 61, "A single delete on a sharded collection must contain an exact match on _id")
	for _, filter := range []bson.D{d("_id", 3), d("k", 150)} {
		if r, err := coll.DeleteOne(ctx, filter); err != nil || r.DeletedCount != 1 {
			t.Errorf("%v: %+v, %v, want r.DeletedCount 1", filter, r, err)
		}
	}
	if r, err := coll.DeleteMany(ctx, d("_id", d("$gte", 10))); err != nil || r.DeletedCount != 9 {
		t.Errorf("many: %+v, %v, want DeletedCount 9", r, err)
	}
}

func TestFindAndModifyDeletesADocumentOnce(t *testing.T) {
	_, coll := withTwentyDocuments(t)
	expect.NoError(t, coll.FindOneAndDelete(t.Context(), d("k", 45)).Err(), "FindOneAndDelete")
	if err := coll.FindOneAndDelete(t.Context(), d("k", 45)).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
		t.Errorf("second delete: %v, want %v", err, mongo.ErrNoDocuments)
	}
}

func TestChangingTheShardKeyMovesTheDocument(t *testing.T) {
	c, coll := withTwentyDocuments(t)
	must.Do(t, must.Err(coll.UpdateOne(t.Context(), d("k", 45), d("$set", d("k", 250)))))
	if n := c.catalog.Shards["shard-rs-3"].Coll("db", "coll").Len(); n != 7 {
		t.Errorf("shard-rs-3 has %d documents, want 7", n)
	}
	_, err := coll.UpdateMany(t.Context(), d("k", 60), d("$set", d("k", 61)))
	wantCode(t, err, 72, "Multi-update operations are not allowed when updating the shard key field.")
	_, err = coll.UpdateOne(t.Context(), d("_id", 5), d("$set", d("k", 61)))
	wantCode(t, err, 31025, "without specifying the full shard key")
	_, err = c.Command(t.Context(), "db", d("update", "coll", "updates", bson.A{d("q", d("k", 75), "u", d("$set", d("k", 61)))}))
	expect.That(t, err != nil && strings.Contains(err.Error(), "retryWrites: true"), "not retryable: %v", err)
}

func TestOnlyUnorderedInsertsContinueAfterAnError(t *testing.T) {
	c := emptyCluster(t)
	docs := bson.A{d("_id", 1), d("_id", 1), d("_id", 2)}
	for _, x := range []struct {
		ordered  bool
		inserted int32
	}{{true, 1}, {false, 2}} {
		coll := map[bool]string{true: "o", false: "u"}[x.ordered]
		reply, err := c.Command(t.Context(), "db", d("insert", coll, "documents", docs, "ordered", x.ordered))
		expect.That(t, err != nil && reply.Lookup("n").Int32() == x.inserted, "ordered %v: %v, %v", x.ordered, reply, err)
		we := reply.Lookup("writeErrors", "0")
		want := `{ index: 1, code: 11000, codeName: "DuplicateKey", errmsg: "E11000 duplicate key error collection: db.` +
			coll + ` index: _id_ dup key: { _id: 1 }", keyPattern: { _id: 1 }, keyValue: { _id: 1 } }`
		if got := shellText(we.Value); strings.ReplaceAll(got, `\"`, `"`) != want {
			t.Errorf("write error %s, want %s", got, want)
		}
	}
	if p, ok := c.catalog.Primary("db"); !ok || p == "" {
		t.Error("the first insert did not make the database")
	}
}

func TestUniqueIndexMustBeginWithTheShardKey(t *testing.T) {
	c := emptyCluster(t)
	shardIntoThree(t, c)
	index := func(key bson.D) error {
		_, err := c.Command(t.Context(), "db", d("createIndexes", "coll", "indexes", bson.A{d("key", key, "name", "i", "unique", true)}))
		return err
	}
	if err := index(d("x", 1)); err == nil || err.Error() != "cannot create unique index over { x: 1 } with shard key pattern { k: 1 }" {
		t.Errorf("other field: %v", err)
	}
	expect.NoError(t, index(d("k", 1, "x", 1)), "prefix")
	for shard, node := range c.catalog.Shards {
		if n := len(node.Coll("db", "coll").Indexes()); n != 3 {
			t.Errorf("%s has %d indexes, want 3", shard, n)
		}
	}
}

func TestOpenCursorsKeepTheirResultAndAreKilled(t *testing.T) {
	c, coll := withTwentyDocuments(t)
	ctx := t.Context()
	cur, err := coll.Find(ctx, bson.D{}, options.Find().SetBatchSize(5).SetSort(d("k", 1)))
	must.Do(t, err)
	must.That(t, cur.Next(ctx), "no first document")
	// An open cursor keeps its result when the documents are deleted.
	must.Do(t, must.Err(coll.DeleteMany(ctx, bson.D{})))
	n := 1
	for cur.Next(ctx) {
		n++
	}
	if n != 20 || cur.Err() != nil {
		t.Errorf("%d documents, %v, want 20", n, cur.Err())
	}
	expect.Equal(t, c.cursors.len(), 0, "cursors are open after the end")
	first := mustRun(t, c, "config", d("find", "shards", "batchSize", 1))
	id := first.Lookup("cursor", "id").Int64()
	killed := mustRun(t, c, "config", d("killCursors", "shards", "cursors", bson.A{id, int64(7)}))
	expect.Equal(t, killed.Lookup("cursorsKilled", "0").Int64(), id, "killed %v", killed)
	expect.Equal(t, killed.Lookup("cursorsNotFound", "0").Int64(), 7, "not found %v", killed)
}

func TestExplainNamesShardsAndMerge(t *testing.T) {
	c := withSpreadDocuments(t)
	for _, x := range []struct {
		command bson.D
		stage   string
		shards  int
	}{
		{d("find", "coll", "filter", d("k", 5)), "SINGLE_SHARD", 1},
		{d("find", "coll", "filter", d("k", d("$lt", 150))), "SHARD_MERGE", 2},
		{d("find", "coll", "sort", d("_id", 1)), "SHARD_MERGE_SORT", 3},
	} {
		reply := mustRun(t, c, "db", d("explain", x.command, "verbosity", "queryPlanner"))
		plan := reply.Lookup("queryPlanner", "winningPlan")
		expect.Equal(t, value.Field(plan.Value, "stage").StringValue(), x.stage, "%v: stage", x.command)
		if got := value.Len(value.Field(plan.Value, "shards").Value); got != x.shards {
			t.Errorf("%v: %d shards, want %d", x.command, got, x.shards)
		}
	}
	if _, err := c.Command(t.Context(), "db", d("explain", d("count", "coll"))); status.Of(err) == nil || status.Of(err).Code != 59 {
		t.Errorf("explain of count: %v, want code 59", err)
	}
	reply := mustRun(t, c, "db", d("explain",
		d("aggregate", "coll", "cursor", bson.D{}, "pipeline", bson.A{d("$group", d("_id", "$k"))}), "verbosity", "queryPlanner"))
	if got := value.Len(reply.Lookup("shards").Value); got != 3 {
		t.Errorf("a grouping needs %d shards, want 3", got)
	}
}

func TestDocumentsExpireByTTLIndexes(t *testing.T) {
	c := emptyCluster(t)
	at := func(ago time.Duration) bson.DateTime { return bson.NewDateTimeFromTime(c.catalog.Now().Add(-ago)) }
	mustRun(t, c, "store", d("createIndexes", "c", "indexes", bson.A{
		d("key", d("at", 1), "name", "at_1", "expireAfterSeconds", 60),
		d("key", d("until", 1), "name", "until_1", "expireAfterSeconds", 0, "partialFilterExpression", d("kind", "lease")),
		d("key", d("a", 1, "b", 1), "name", "a_1_b_1", "expireAfterSeconds", 0),
	}))
	mustRun(t, c, "store", d("insert", "c", "documents", bson.A{
		d("_id", "old", "at", at(61*time.Second)),
		d("_id", "young", "at", at(10*time.Second)),
		d("_id", "text", "at", "2001-01-01"),
		d("_id", "array", "at", bson.A{at(0), at(2 * time.Minute)}),
		d("_id", "lease", "until", at(time.Second), "kind", "lease"),
		d("_id", "not a lease", "until", at(time.Second)),
		d("_id", "compound", "a", at(time.Second), "b", at(time.Second)),
	}))
	expect.Equal(t, c.ExpireDocuments(), 3, "documents expired, want old, array and lease")
	c.catalog.AdvanceTo(c.catalog.Now().Add(51 * time.Second))
	expect.Equal(t, c.ExpireDocuments(), 1, "documents expired after another 51 s, want young")
}

func TestRunningClusterExpiresDocumentsEveryMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Options{Projects: 2, Documents: 10, Layout: "yorkie-head"})
		must.Do(t, err)
		defer func() { _ = c.Close() }()
		c.Start(t.Context())
		mustRun(t, c, "store", d("createIndexes", "c", "indexes", bson.A{d("key", d("at", 1), "name", "at_1", "expireAfterSeconds", 5)}))
		mustRun(t, c, "store", d("insert", "c", "documents", bson.A{d("at", bson.NewDateTimeFromTime(c.catalog.Now()))}))
		time.Sleep(61 * time.Second)
		expect.Equal(t, mustRun(t, c, "store", d("count", "c")).Lookup("n").Int32(), 0, "documents after a minute")
		// A Yorkie server that runs keeps its own document alive.
		expect.Equal(t, mustRun(t, c, "yorkie-meta", d("count", "clusternodes")).Lookup("n").Int32(), 1, "nodes of Yorkie")
	})
}
