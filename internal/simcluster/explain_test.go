package simcluster

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

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
}
