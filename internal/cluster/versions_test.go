package cluster_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

func TestTombstonesAndTrackedCollectionsAreNotSharded(t *testing.T) {
	for _, version := range []string{"4.4", "8.0"} {
		cfg := simcluster.Options{ServerVersion: version, Empty: true, Still: true, Shards: 2}
		onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
			must.Do(t, run(t, sim, "admin", bson.D{{Key: "enableSharding", Value: "d"}, {Key: "primaryShard", Value: "shard-rs-1"}}))
			must.Do(t, run(t, sim, "admin",
				bson.D{{Key: "shardCollection", Value: "d.gone"}, {Key: "key", Value: bson.D{{Key: "k", Value: hashed}}}}))
			must.Do(t, run(t, sim, "d", bson.D{{Key: "insert", Value: "plain"}, {Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}}}}}))
			w := topology.NewWatcher(c, topology.Options{})
			must.Do(t, w.Refresh(t.Context()))
			if w.Table().Collection("d.gone") == nil {
				t.Fatal("not loaded")
			}
			must.Do(t, run(t, sim, "d", bson.D{{Key: "drop", Value: "gone"}}))
			if version == "8.0" {
				must.Do(t, run(t, sim, "admin", bson.D{{Key: "moveCollection", Value: "d.plain"}, {Key: "toShard", Value: "shard-rs-2"}}))
			}
			must.Do(t, w.Refresh(t.Context()))
			if w.Table().Collection("d.gone") != nil {
				t.Errorf("%s: a dropped collection is still there", version)
			}
			plain := w.Table().Collection("d.plain")
			if version == "4.4" {
				if plain != nil {
					t.Errorf("an unsharded collection of 4.4: %+v", plain)
				}
				return
			}
			if plain == nil || !plain.Unsplittable || plain.Chunks.Len() != 1 || plain.Chunks.Owner(0) != "shard-rs-2" {
				t.Fatalf("tracked collection: %+v", plain)
			}
			target, err := c.TargetShards(t.Context(), "d.plain", bson.D{})
			must.Do(t, err)
			expect.EqualSlices(t, target, []string{"shard-rs-2"}, "shards that the mongos asks")
		})
	}
}
