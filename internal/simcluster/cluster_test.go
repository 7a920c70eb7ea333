package simcluster

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/must"
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
	must.Do(t, err)
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
	client := must.Get(mongo.Connect(o))
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
	must.That(t, err == nil, "%v: %v", cmd, err)
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
