package cluster_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
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
				expect.That(t, h.Err == nil || !strings.Contains(fault.Text(h.Err), "went wrong inside"), "%v", h.Err)
			})
		})
	}
}

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
			must.That(t, w.Table().Collection("d.gone") != nil, "not loaded")
			must.Do(t, run(t, sim, "d", bson.D{{Key: "drop", Value: "gone"}}))
			if version == "8.0" {
				must.Do(t, run(t, sim, "admin", bson.D{{Key: "moveCollection", Value: "d.plain"}, {Key: "toShard", Value: "shard-rs-2"}}))
			}
			must.Do(t, w.Refresh(t.Context()))
			expect.That(t, w.Table().Collection("d.gone") == nil, "%s: a dropped collection is still there", version)
			plain := w.Table().Collection("d.plain")
			if version == "4.4" {
				expect.That(t, plain == nil, "an unsharded collection of 4.4: %+v", plain)
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

// A time series is listed once: up to 8.2 by its buckets, of which it is a view, from 9.0 on by its own name.
func TestTimeSeriesOfBothFormsAreListedAndCounted(t *testing.T) {
	for release, stored := range map[string]string{"7.0": "system.buckets.weather", "8.3": "system.buckets.weather", "9.0": "weather"} {
		t.Run(release, func(t *testing.T) {
			onSim(t, simcluster.Options{Empty: true, Still: true, ServerVersion: release},
				func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
					must.Do(t, run(t, sim, "app", bson.D{{Key: "create", Value: "weather"}, {Key: "timeseries", Value: bson.D{
						{Key: "timeField", Value: "time"}, {Key: "metaField", Value: "sensor"}}}}))
					must.Do(t, run(t, sim, "app",
						bson.D{{Key: "insert", Value: "plain"}, {Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}}}}}))
					must.Do(t, run(t, sim, "app", bson.D{{Key: "insert", Value: stored}, {Key: "documents", Value: bson.A{
						bson.D{{Key: "_id", Value: 1}, {Key: "meta", Value: "a"}}, bson.D{{Key: "_id", Value: 2}, {Key: "meta", Value: "b"}}}}}))
					list, err := c.Collections(t.Context(), "app")
					must.Do(t, err)
					ns := topology.Namespace("app." + stored)
					slices.Sort(list)
					expect.EqualSlices(t, list, []topology.Namespace{"app.plain", ns}, "listed")
					sizes, err := c.Sizes(t.Context(), ns)
					must.Do(t, err)
					var buckets int64
					for _, s := range sizes.Shards {
						buckets += s.Documents.Value
					}
					expect.That(t, sizes.Buckets && buckets == 2, "%d buckets, called so: %v; want 2", buckets, sizes.Buckets)
				})
		})
	}
}

// The settings and the release are read at the same time when a program starts.
func TestDefaultChunkSizeIsThatOfTheReleaseInTheFirstRead(t *testing.T) {
	for release, want := range map[string]int64{"4.4": 64 << 20, "5.0": 64 << 20, "6.0": 128 << 20, "8.3": 128 << 20} {
		cfg := simcluster.Options{ServerVersion: release, Empty: true, Still: true, Shards: 2}
		onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, _ *counter) {
			b, err := c.Settings(t.Context())
			must.Do(t, err)
			if b.ChunkBytes != want || !b.ChunkDefault {
				t.Errorf("%s: got %d, default %t, want %d", release, b.ChunkBytes, b.ChunkDefault, want)
			}
		})
	}
}

// Only 6.0.3 and later have the statistics; a client that has asked nothing before sends the command all the same.
func TestSizesNeedNoEarlierQuestionForTheRelease(t *testing.T) {
	cfg := simcluster.Options{ServerVersion: "7.0", Projects: 2, Documents: 20, Still: true}
	onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, sent *counter) {
		must.Do(t, must.Err(c.AllSizes(t.Context())))
		expect.Equal(t, len(sent.of("aggregate")), 1, "reads")
	})
}
