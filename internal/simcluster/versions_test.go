package simcluster

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// A release has neither the commands nor the figures of a later one.
func TestVersionHasOnlyItsOwnCommandsAndFigures(t *testing.T) {
	first := map[string]string{
		"setAllowMigrations": "5.0", "reshardCollection": "5.0", "commitReshardCollection": "5.0",
		"moveRange": "6.0", "configureCollectionBalancing": "6.0",
		"mergeAllChunksOnShard": "7.0", "analyzeShardKey": "7.0", "checkMetadataConsistency": "7.0",
		"moveCollection": "8.0", "unshardCollection": "8.0", "abortMoveCollection": "8.0",
	}
	for _, v := range []string{"4.4", "5.0", "6.0", "6.0.2", "7.0", "8.0"} {
		c := emptyCluster(t, func(o *Options) { o.ServerVersion = v })
		shardIntoThree(t, c)
		mustRun(t, c, "db", d("insert", "coll", "documents", bson.A{d("_id", 1, "k", 5)}))
		for name, since := range first {
			_, err := c.Command(t.Context(), "admin", d(name, "d.none"))
			if unknown := err != nil && status.Of(err).Code == status.CommandNotFound; unknown != (v < since) {
				t.Errorf("%s on %s: %v", name, v, err)
			}
		}
		_, err := c.Command(t.Context(), "admin",
			d("aggregate", 1, "pipeline", bson.A{d("$shardedDataDistribution", bson.D{})}, "cursor", bson.D{}))
		if has := err == nil; has != (v >= "6.0" && v != "6.0.2") || !has && status.Of(err).Code != 40324 {
			t.Errorf("$shardedDataDistribution on %s: %v", v, err)
		}
		stats := mustRun(t, c, "db", d("collStats", "coll"))
		if has := stats.Lookup("shards", "shard-rs-1", "numOrphanDocs").Type != 0; has != (v >= "6.0") {
			t.Errorf("numOrphanDocs on %s: %s", v, stats)
		}
	}
}
