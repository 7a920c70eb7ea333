package simcluster

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
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
	if _, err := c.Command(t.Context(), "db", d("explain", d("count", "coll"))); status.Of(err) == nil || status.Of(err).Code != 59 {
		t.Errorf("explain of count: %v, want code 59", err)
	}
	reply := mustRun(t, c, "db", d("explain",
		d("aggregate", "coll", "cursor", bson.D{}, "pipeline", bson.A{d("$group", d("_id", "$k"))}), "verbosity", "queryPlanner"))
	if got := value.Len(reply.Lookup("shards").Value); got != 3 {
		t.Errorf("a grouping needs %d shards, want 3", got)
	}
}
