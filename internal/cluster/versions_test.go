package cluster_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

func TestEveryServerVersionIsRead(t *testing.T) {
	for _, version := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
		t.Run(version, func(t *testing.T) {
			cfg := simcluster.Options{ServerVersion: version, Projects: 5, Documents: 50, Still: true}
			onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, _ *counter) {
				table, err := topology.NewWatcher(c, topology.Options{}).Load(t.Context())
				must(t, err)
				for p, h := range table.Health {
					if h.Err != nil || h.Note != "" {
						t.Errorf("%s: %v %s", p, h.Err, h.Note)
					}
				}
				if table.Collection("yorkie-meta.documents") == nil || len(table.Unsharded) == 0 {
					t.Errorf("%d collections, unsharded %v", len(table.Collections), table.Unsharded)
				}
				if legacy := table.Collection("yorkie-meta.documents").LegacyChunks; legacy != (version == "4.4") {
					t.Errorf("chunks by namespace: %t", legacy)
				}
				all, err := c.AllSizes(t.Context())
				if version < "6" {
					if fault.Of(err) != fault.NotFound {
						t.Errorf("sizes at once from a server that has no such stage: %v", err)
					}
					return
				}
				must(t, err)
				i := slices.IndexFunc(all, func(s topology.Sizes) bool { return s.NS == "yorkie-meta.documents" })
				if i < 0 || len(all[i].Shards) == 0 {
					t.Fatalf("sizes %+v", all)
				}
				for shard, s := range all[i].Shards {
					if table.Shard(shard) == nil || !s.Documents.Known || !s.Bytes.Exact {
						t.Errorf("%s: %+v", shard, s)
					}
				}
			})
		})
	}
}

func TestTombstonesAndTrackedCollectionsAreNotSharded(t *testing.T) {
	for _, version := range []string{"4.4", "8.0"} {
		cfg := simcluster.Options{ServerVersion: version, Empty: true, Still: true, Shards: 2}
		onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
			must(t, run(t, sim, "admin", bson.D{{Key: "enableSharding", Value: "d"}, {Key: "primaryShard", Value: "shard-rs-1"}}))
			must(t, run(t, sim, "admin", bson.D{{Key: "shardCollection", Value: "d.gone"}, {Key: "key", Value: bson.D{{Key: "k", Value: hashed}}}}))
			must(t, run(t, sim, "d", bson.D{{Key: "insert", Value: "plain"}, {Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}}}}}))
			w := topology.NewWatcher(c, topology.Options{})
			must(t, w.Refresh(t.Context()))
			if w.Table().Collection("d.gone") == nil {
				t.Fatal("not loaded")
			}
			must(t, run(t, sim, "d", bson.D{{Key: "drop", Value: "gone"}}))
			if version == "8.0" {
				must(t, run(t, sim, "admin", bson.D{{Key: "moveCollection", Value: "d.plain"}, {Key: "toShard", Value: "shard-rs-2"}}))
			}
			must(t, w.Refresh(t.Context()))
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
			must(t, err)
			if !slices.Equal(target, []string{"shard-rs-2"}) {
				t.Errorf("the mongos asks %v", target)
			}
		})
	}
}
