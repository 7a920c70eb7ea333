package cluster_test

import (
	"slices"
	"testing"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

func TestEveryServerVersionIsRead(t *testing.T) {
	for _, version := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
		t.Run(version, func(t *testing.T) {
			onSim(t, simcluster.Options{ServerVersion: version, Projects: 5, Documents: 50, Still: true}, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, _ *counter) {
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
