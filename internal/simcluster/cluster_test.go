package simcluster

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// fixedEpoch is an arbitrary fixed time.
func fixedEpoch() time.Time { return time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC) }

// emptyCluster returns a cluster without user databases that is not started.
func emptyCluster(t testing.TB, change ...func(*Options)) *Cluster {
	t.Helper()
	o := Options{Empty: true, Still: true, Epoch: fixedEpoch()}
	for _, f := range change {
		f(&o)
	}
	c, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// connect connects the MongoDB driver through the in-process dialer.
func connect(t testing.TB, c *Cluster, change ...func(*options.ClientOptions)) *mongo.Client {
	t.Helper()
	o := options.Client().ApplyURI(URI()).SetDialer(c).SetServerMonitoringMode("poll").SetTimeout(20 * time.Second)
	for _, f := range change {
		f(o)
	}
	client, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = client.Disconnect(ctx)
	})
	return client
}

// mustRun runs a command in process and fails the test on an error.
func mustRun(t testing.TB, c *Cluster, db string, cmd bson.D) bson.Raw {
	t.Helper()
	reply, err := c.Command(t.Context(), db, cmd)
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return reply
}

func d(pairs ...any) bson.D {
	var doc bson.D
	for i := 0; i < len(pairs); i += 2 {
		doc = append(doc, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return doc
}

// shardIntoThree shards db.coll by {k: 1}, split at 100 and 200, one chunk on each of three
// shards.
func shardIntoThree(t testing.TB, c *Cluster) {
	t.Helper()
	mustRun(t, c, "admin", d("enableSharding", "db", "primaryShard", "shard-rs-1"))
	mustRun(t, c, "admin", d("shardCollection", "db.coll", "key", d("k", 1)))
	for i, at := range []int{100, 200} {
		mustRun(t, c, "admin", d("split", "db.coll", "middle", d("k", at)))
		mustRun(t, c, "admin", d("moveChunk", "db.coll", "find", d("k", at), "to", []string{"shard-rs-2", "shard-rs-3"}[i]))
	}
}

func TestDriverConnectsInProcess(t *testing.T) {
	c := emptyCluster(t)
	client := connect(t, c)
	if err := client.Ping(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	names, err := client.ListDatabaseNames(t.Context(), bson.D{})
	if err != nil || len(names) != 2 || names[0] != "admin" || names[1] != "config" {
		t.Fatalf(`databases %v, %v, want len 2, [0] "admin", [1] "config"`, names, err)
	}
}

func TestWritesAndReadsGoThroughRouting(t *testing.T) {
	c := emptyCluster(t)
	shardIntoThree(t, c)
	coll := connect(t, c).Database("db").Collection("coll")
	var docs []any
	for i := range 300 {
		docs = append(docs, d("_id", i, "k", i, "group", i%3))
	}
	if _, err := coll.InsertMany(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	for shard, want := range map[string]int{"shard-rs-1": 100, "shard-rs-2": 100, "shard-rs-3": 100} {
		if got := c.catalog.Shards[shard].Coll("db", "coll").Len(); got != want {
			t.Errorf("%s has %d documents, want %d", shard, got, want)
		}
	}
	cur, err := coll.Find(t.Context(), d("k", d("$gte", 50, "$lt", 250)),
		options.Find().SetSort(d("k", -1)).SetSkip(10).SetLimit(120).SetBatchSize(50))
	if err != nil {
		t.Fatal(err)
	}
	var found []struct{ K int }
	if err := cur.All(t.Context(), &found); err != nil {
		t.Fatal(err)
	}
	if len(found) != 120 || found[0].K != 239 || found[119].K != 120 {
		t.Fatalf("%d documents, %v … %v", len(found), found[0], found[len(found)-1])
	}
	cur, err = coll.Aggregate(t.Context(), bson.A{
		d("$match", d("k", d("$lt", 200))), d("$group", d("_id", "$group", "n", d("$sum", 1))), d("$sort", d("_id", 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		ID int `bson:"_id"`
		N  int
	}
	if err := cur.All(t.Context(), &groups); err != nil || len(groups) != 3 || groups[0].N != 67 || groups[2].N != 66 {
		t.Fatalf("groups %v, %v, want len 3, [0].N 67, [2].N 66", groups, err)
	}
	n, err := coll.CountDocuments(t.Context(), d("group", 1))
	if err != nil || n != 100 {
		t.Fatalf("counted %d, %v, want 100", n, err)
	}
	var values []int32
	if err := coll.Distinct(t.Context(), "group", bson.D{}).Decode(&values); err != nil || len(values) != 3 {
		t.Fatalf("distinct %v, %v, want len 3", values, err)
	}
}
