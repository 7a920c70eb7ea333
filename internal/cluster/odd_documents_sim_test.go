package cluster_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// A malformed document of config.* is left out and reported for its part; everything
// else is still read. A collection with a malformed chunk keeps its last complete
// table, because a partial table is never shown.
func TestMalformedCatalogDocumentHidesNothingElse(t *testing.T) {
	odd := map[string]struct {
		in     string
		change bson.D
		part   topology.Part
	}{
		"a shard without a host": {"shards", bson.D{{Key: "_id", Value: 7}}, topology.PartShards},
		"a database of a wrong type": {"databases",
			bson.D{{Key: "_id", Value: "odd"}, {Key: "primary", Value: bson.A{1}}}, topology.PartDatabases},
		"a collection that is no text": {"collections", bson.D{{Key: "_id", Value: int64(3)}, {Key: "key", Value: "x"}}, topology.PartRouting},
		"a zone range without bounds": {"tags",
			bson.D{{Key: "_id", Value: "odd"}, {Key: "ns", Value: 4}, {Key: "tag", Value: true}}, topology.PartZones},
		"a changelog entry of rubbish": {"changelog",
			bson.D{{Key: "_id", Value: 2.5}, {Key: "time", Value: "noon"}, {Key: "what", Value: 1}}, topology.PartEvents},
		"a setting of a wrong type": {"settings",
			bson.D{{Key: "_id", Value: "balancer"}, {Key: "mode", Value: 9}, {Key: "activeWindow", Value: "x"}}, topology.PartSettings},
		"a mongos without a ping":        {"mongos", bson.D{{Key: "_id", Value: 1.5}, {Key: "ping", Value: "now"}}, topology.PartRouters},
		"a chunk without bounds":         {"chunks", nil, topology.PartRouting},
		"a chunk of an unknown shard":    {"chunks", nil, topology.PartRouting},
		"a chunk with a text as version": {"chunks", nil, topology.PartRouting},
	}
	for name, o := range odd {
		t.Run(name, func(t *testing.T) {
			cfg := simcluster.Options{Projects: 4, Documents: 40, Still: true}
			onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
				w, stop := watch(t, c, topology.Options{})
				defer stop()
				time.Sleep(time.Minute)
				before := w.Table()
				const ns = "yorkie-meta.changes"
				if o.change != nil {
					must.Do(t, run(t, sim, "config", bson.D{{Key: "update", Value: o.in}, {Key: "updates", Value: bson.A{bson.D{
						{Key: "q", Value: bson.D{{Key: "_id", Value: o.change[0].Value}}}, {Key: "u", Value: o.change}, {Key: "upsert", Value: true}}}}}))
				} else {
					set := map[string]bson.D{
						"a chunk without bounds":         {{Key: "min", Value: 3}},
						"a chunk of an unknown shard":    {{Key: "shard", Value: bson.A{}}},
						"a chunk with a text as version": {{Key: "lastmod", Value: bson.Timestamp{T: 9999, I: 0}}, {Key: "max", Value: "x"}},
					}[name]
					if set[0].Key != "lastmod" {
						set = append(set, bson.E{Key: "lastmod", Value: bson.Timestamp{T: 9999, I: 0}})
					}
					uuid := before.Collection(ns).Incarnation.UUID
					must.Do(t, run(t, sim, "config", bson.D{{Key: "update", Value: "chunks"}, {Key: "updates", Value: bson.A{bson.D{
						{Key: "q", Value: bson.D{{Key: "uuid", Value: bson.Binary{Subtype: 4, Data: uuid[:]}}}},
						{Key: "u", Value: bson.D{{Key: "$set", Value: set}}}}}}}))
				}
				// Another change at the same time must be seen.
				docs := before.Collection("yorkie-meta.documents")
				at := bson.D{{Key: "project_id", Value: bson.NewObjectID()}}
				must.Do(t, run(t, sim, "admin", bson.D{{Key: "split", Value: "yorkie-meta.documents"}, {Key: "middle", Value: at}}))
				must.Do(t, run(t, sim, "admin", bson.D{{Key: "addShardToZone", Value: "shard-rs-1"}, {Key: "zone", Value: "seen"}}))
				time.Sleep(time.Minute)
				synctest.Wait()
				now := w.Table()
				for _, p := range []topology.Part{topology.PartShards, topology.PartDatabases, topology.PartZones,
					topology.PartRouters, topology.PartEvents} {
					if h := now.Health[p]; h.Err != nil || time.Since(h.At) > 30*time.Second {
						t.Errorf("%s: read at %s, %v", p, h.At, h.Err)
					}
				}
				if h := now.Health[topology.PartRouting]; o.in != "chunks" && (h.Err != nil || time.Since(h.At) > 30*time.Second) {
					t.Errorf("routing: %+v", h)
				}
				if len(now.Collections) < len(before.Collections) || len(now.Databases) < len(before.Databases) ||
					len(now.Shards) < len(before.Shards) {
					t.Errorf("%d of %d collections, %d of %d databases, %d of %d shards are left", len(now.Collections), len(before.Collections),
						len(now.Databases), len(before.Databases), len(now.Shards), len(before.Shards))
				}
				if was, is := docs.Chunks.Len(), now.Collection("yorkie-meta.documents").Chunks.Len(); is != was+1 {
					t.Errorf("another collection was split, and has %d chunks as before: %d", is, was)
				}
				if s := now.Shard("shard-rs-1"); s == nil || !strings.Contains(strings.Join(s.Zones, " "), "seen") {
					t.Errorf("what else changed is not seen: %+v", s)
				}
				h := now.Health[o.part]
				t.Logf("%s: note %q, error %v", o.part, h.Note, h.Err)
				if h.Err != nil && strings.Contains(fault.Text(h.Err), "went wrong inside") {
					t.Errorf("%v", h.Err)
				}
			})
		})
	}
}
