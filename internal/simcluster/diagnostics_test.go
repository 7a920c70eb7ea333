package simcluster

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// cursorRows reads the first batch of a cursor reply.
func cursorRows(t *testing.T, reply bson.Raw) []bson.Raw {
	t.Helper()
	list, ok := reply.Lookup("cursor", "firstBatch").ArrayOK()
	if !ok {
		t.Fatalf("no cursor in %s", shellText(reply))
	}
	var out []bson.Raw
	for item := range value.Items(bson.RawValue{Type: bson.TypeArray, Value: list}) {
		out = append(out, item.Value)
	}
	return out
}

// withSpreadDocuments makes a cluster with 100 documents on each of three shards.
func withSpreadDocuments(t *testing.T, change ...func(*Options)) *Cluster {
	t.Helper()
	c := emptyCluster(t, change...)
	shardIntoThree(t, c)
	var docs []bson.Raw
	for i := range 300 {
		docs = append(docs, encode(d("_id", int32(i), "k", int32(i))))
	}
	if err := c.BulkInsert("db.coll", docs); err != nil {
		t.Fatal(err)
	}
	return c
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
		{d("count", "coll", "query", d("_id", 5)), "SHARD_MERGE", 3},
		{d("distinct", "coll", "key", "k"), "SHARD_MERGE", 3},
		{d("update", "coll", "updates", bson.A{d("q", d("k", 5), "u", d("$set", d("x", 1)))}), "SHARD_WRITE", 1},
		{d("delete", "coll", "deletes", bson.A{d("q", d("k", d("$gte", 100)), "limit", 0)}), "SHARD_WRITE", 2},
	} {
		reply := mustRun(t, c, "db", d("explain", x.command, "verbosity", "queryPlanner"))
		plan := reply.Lookup("queryPlanner", "winningPlan")
		if got := value.Field(plan.Value, "stage").StringValue(); got != x.stage {
			t.Errorf("%v: stage %s, want %s", x.command, got, x.stage)
		}
		if got := value.Len(value.Field(plan.Value, "shards").Value); got != x.shards {
			t.Errorf("%v: %d shards, want %d", x.command, got, x.shards)
		}
	}
	if n := mustRun(t, c, "db", d("count", "coll")).Lookup("n").Int32(); n != 300 {
		t.Errorf("an explained write left %d documents, want 300", n)
	}
	reply := mustRun(t, c, "db", d("explain",
		d("aggregate", "coll", "cursor", bson.D{}, "pipeline", bson.A{d("$group", d("_id", "$k"))}), "verbosity", "queryPlanner"))
	if got := value.Len(reply.Lookup("shards").Value); got != 3 {
		t.Errorf("a grouping needs %d shards, want 3", got)
	}
	if _, err := c.Command(t.Context(), "nowhere", d("explain", d("find", "coll"))); err == nil {
		t.Error("a database that does not exist was explained")
	}
}

func TestStatisticsComePerShard(t *testing.T) {
	c := withSpreadDocuments(t)
	mustRun(t, c, "db", d("find", "coll", "filter", d("k", 5)))
	stats := cursorRows(t, mustRun(t, c, "db", d("aggregate", "coll", "cursor", bson.D{}, "pipeline", bson.A{
		d("$collStats", d("storageStats", bson.D{}, "count", bson.D{}, "latencyStats", bson.D{})),
	})))
	if len(stats) != 3 {
		t.Fatalf("%d rows, want 3", len(stats))
	}
	for _, r := range stats {
		if n := r.Lookup("storageStats", "count").Int32(); n != 100 || r.Lookup("count").Int32() != n {
			t.Errorf("counts of documents and of storage differ or are not 100: %s", shellText(r))
		}
		if r.Lookup("storageStats", "numOrphanDocs").Type != 0 {
			t.Error("5.0 does not report orphans")
		}
	}
	if ops := stats[0].Lookup("latencyStats", "reads", "ops").Int64(); ops != 1 {
		t.Errorf("%d reads on the first shard, want 1", ops)
	}
	indexes := cursorRows(t, mustRun(t, c, "db", d("aggregate", "coll", "cursor", bson.D{}, "pipeline", bson.A{d("$indexStats", bson.D{})})))
	if len(indexes) != 6 {
		t.Errorf("%d rows of $indexStats, want two indexes on three shards", len(indexes))
	}
	size := mustRun(t, c, "db", d("dataSize", "db.coll", "keyPattern", d("k", 1), "min", d("k", 50), "max", d("k", 150), "estimate", true))
	if n := size.Lookup("numObjects").Double(); n != 100 {
		t.Errorf("dataSize counts %v documents, want 100", n)
	}
}

func TestShardedDataDistributionExistsSince60(t *testing.T) {
	c := withSpreadDocuments(t, func(o *Options) { o.ServerVersion = "6.0" })
	found := cursorRows(t, mustRun(t, c, "admin", d("aggregate", 1, "cursor", bson.D{}, "pipeline", bson.A{
		d("$shardedDataDistribution", bson.D{}), d("$match", d("ns", "db.coll")),
	})))
	if len(found) != 1 || found[0].Lookup("shards", "1", "numOwnedDocuments").Int64() != 100 {
		t.Fatalf("rows %v", found)
	}
}

func TestCurrentOpShowsAMigration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Options{Empty: true, Epoch: fixedEpoch()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		mustRun(t, c, "admin", d("enableSharding", "db", "primaryShard", "shard-rs-1"))
		mustRun(t, c, "admin", d("shardCollection", "db.coll", "key", d("k", 1)))
		moved := make(chan error, 1)
		go func() {
			_, err := c.Command(t.Context(), "admin", d("moveChunk", "db.coll", "find", d("k", 1), "to", "shard-rs-2"))
			moved <- err
		}()
		var seen []string
		for len(moved) == 0 {
			for _, r := range cursorRows(t, mustRun(t, c, "admin", d("aggregate", 1, "cursor", bson.D{}, "pipeline", bson.A{
				d("$currentOp", d("allUsers", true, "localOps", false)), d("$match", d("command.moveChunk", "db.coll")),
			}))) {
				seen = append(seen, r.Lookup("command", "toShard").StringValue())
			}
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		if err := <-moved; err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(seen, "shard-rs-2") {
			t.Error("the migration was never seen")
		}
	})
}
