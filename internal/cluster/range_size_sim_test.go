package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// addMeasuredCollection adds a collection db.c with a chunk [1, 2) of 8,000 documents of 1,075
// bytes, of which every fifth is one byte longer, as in the recording: 8,600,000
// bytes by the mean and 8,601,600 by reading.
func addMeasuredCollection(t *testing.T, sim *simcluster.Cluster) {
	t.Helper()
	must.Do(t, run(t, sim, "admin", bson.D{{Key: "enableSharding", Value: "db"}, {Key: "primaryShard", Value: "shard-rs-1"}}))
	must.Do(t, run(t, sim, "admin", bson.D{{Key: "shardCollection", Value: "db.c"}, {Key: "key", Value: bson.D{{Key: "k", Value: 1}}}}))
	for _, at := range []int{1, 2} {
		must.Do(t, run(t, sim, "admin", bson.D{{Key: "split", Value: "db.c"}, {Key: "middle", Value: bson.D{{Key: "k", Value: at}}}}))
	}
	row := func(id, length int) bson.D {
		d := bson.D{{Key: "_id", Value: int32(id)}, {Key: "k", Value: int32(1)}, {Key: "s", Value: ""}}
		raw := must.Get(bson.Marshal(d))
		d[2].Value = strings.Repeat("x", length-len(raw))
		return d
	}
	for from := 0; from < 8000; from += 1000 {
		var rows bson.A
		for id := from; id < from+1000; id++ {
			length := 1075
			if id%5 == 0 {
				length++
			}
			rows = append(rows, row(id, length))
		}
		must.Do(t, run(t, sim, "db", bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: rows}}))
	}
}

func shardedCollection(t *testing.T, c *cluster.Client, ns topology.Namespace) *topology.Collection {
	t.Helper()
	table, err := topology.NewWatcher(c, topology.Options{}).Load(t.Context())
	must.Do(t, err)
	coll := table.Collection(ns)
	must.That(t, coll != nil, "no %s", ns)
	return coll
}

func rangeOf(ch topology.Chunk) shardkey.Range { return shardkey.Range{Min: ch.Min, Max: ch.Max} }

func measuredReleases() []string {
	if testing.Short() {
		return []string{"5.0.7", "8.0.4"}
	}
	return []string{"4.4.14", "5.0.7", "6.0.5", "7.0.12", "8.0.4"}
}

func TestChunkIsMeasuredAsOnARealCluster(t *testing.T) {
	for _, version := range measuredReleases() {
		t.Run(version, func(t *testing.T) {
			cfg := simcluster.Options{ServerVersion: version, Empty: true, Still: true}
			onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, sent *counter) {
				addMeasuredCollection(t, sim)
				coll := shardedCollection(t, c, "db.c")
				sent.take()
				for i, want := range []topology.RangeSize{{}, {Documents: 8000, Bytes: 8_600_000}, {}} {
					got, err := c.RangeSize(t.Context(), coll.Meta, rangeOf(coll.Chunks.At(i)), false)
					must.Do(t, err)
					if got.Documents != want.Documents || got.Bytes != want.Bytes || got.Exact || got.At.IsZero() {
						t.Errorf("chunk %d is estimated at %+v", i, got)
					}
				}
				exact, err := c.RangeSize(t.Context(), coll.Meta, rangeOf(coll.Chunks.At(1)), true)
				must.Do(t, err)
				expect.That(t, exact.Documents == 8000 && exact.Bytes == 8_601_600 && exact.Exact, "read, it is %+v", exact)
				all, err := c.RangeSize(t.Context(), coll.Meta, shardkey.Range{Min: coll.Key.Min(), Max: coll.Key.Max()}, false)
				must.Do(t, err)
				expect.Equal(t, all.Documents, 8000, "all chunks together: %+v", all)
				got := sent.take()
				// As recorded, without a key pattern it is the same.
				reply, err := sim.Command(t.Context(), "db", bson.D{{Key: "dataSize", Value: "db.c"},
					{Key: "min", Value: bson.D{{Key: "k", Value: 1}}}, {Key: "max", Value: bson.D{{Key: "k", Value: 2}}}})
				must.Do(t, err)
				size, _ := reply.Lookup("size").AsFloat64OK() // an integer from 8.0 on
				if n, _ := reply.Lookup("numObjects").AsFloat64OK(); size != 8_601_600 || n != 8000 {
					t.Errorf("without a key pattern: %s", reply)
				}
				expect.That(t, len(got) == 5 && got[0] == "db.dataSize", "sent %v", got)
			})
		})
	}
}

// The donor accepts and refuses chunks as the rule predicts, on both sides of the
// limit.
func TestSizeRulePredictsWhatTheDonorDoes(t *testing.T) {
	for _, version := range measuredReleases() {
		t.Run(version, func(t *testing.T) {
			cfg := simcluster.Options{ServerVersion: version, Empty: true, Still: true}
			onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
				must.Do(t, run(t, sim, "config", bson.D{{Key: "update", Value: "settings"}, {Key: "updates", Value: bson.A{
					bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: "chunksize"}}},
						{Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "value", Value: int32(1)}}}}}, {Key: "upsert", Value: true}}}}}))
				time.Sleep(time.Minute) // shards read the setting periodically
				addMeasuredCollection(t, sim)
				coll := shardedCollection(t, c, "db.c")
				size, err := c.RangeSize(t.Context(), coll.Meta, rangeOf(coll.Chunks.At(1)), false)
				must.Do(t, err)
				limit := balance.ReleaseOf(version).MoveLimit(1<<20, size.Bytes/size.Documents)
				must.That(t, limit == 1950, "the limit is %d documents", limit)
				move := bson.D{{Key: "moveChunk", Value: "db.c"},
					{Key: "bounds", Value: bson.A{bson.D{{Key: "k", Value: 1}}, bson.D{{Key: "k", Value: 2}}}}, {Key: "to", Value: "shard-rs-2"}}
				for _, n := range []int64{limit + 1, limit} {
					must.Do(t, run(t, sim, "db", bson.D{{Key: "delete", Value: "c"}, {Key: "deletes", Value: bson.A{
						bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: int32(n)}}}}}, {Key: "limit", Value: 0}}}}}))
					size, err := c.RangeSize(t.Context(), coll.Meta, rangeOf(coll.Chunks.At(1)), true)
					must.Do(t, err)
					must.That(t, size.Documents == n, "%d documents, not %d", size.Documents, n)
					err = run(t, sim, "admin", move)
					expect.Equal(t, err != nil, (n > limit), "%d documents of %d: %v", n, limit, err)
				}
			})
		})
	}
}

func TestHashedAndCompoundChunksAreMeasuredByTheirBounds(t *testing.T) {
	cfg := simcluster.Options{Projects: 5, Documents: 200, Still: true}
	onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		table, err := topology.NewWatcher(c, topology.Options{}).Load(t.Context())
		must.Do(t, err)
		forms := map[string]bool{}
		for _, coll := range table.Collections {
			if coll.NS.Database() != "yorkie-meta" {
				continue
			}
			forms[fmt.Sprint(coll.Key.Hashed() >= 0, coll.Key.Len() > 1)] = true
			var sum int64
			for _, ch := range coll.Chunks.All() {
				got, err := c.RangeSize(t.Context(), coll.Meta, rangeOf(ch), false)
				must.Do(t, err)
				sum += got.Documents
			}
			n, err := c.Count(t.Context(), coll.NS, bson.D{})
			must.Do(t, err)
			if sum != n {
				t.Errorf("%s %s: the chunks have %d documents together, the collection %d", coll.NS, coll.Key, sum, n)
			}
		}
		expect.That(t, len(forms) >= 2, "only %v were measured", forms)
	})
}

func TestUnmeasuredChunkHasAReason(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		addMeasuredCollection(t, sim)
		coll := shardedCollection(t, c, "db.c")
		r := rangeOf(coll.Chunks.At(1))
		for _, tc := range []struct {
			name string
			rule *simcluster.Rule
			want fault.Kind
			slow bool
		}{
			{"the server's time limit", &simcluster.Rule{Command: "dataSize", At: simcluster.Received, Err: simcluster.Fail(50)},
				fault.Unavailable, true},
			{"a shard that hangs", &simcluster.Rule{Command: "dataSize", At: simcluster.Received, Err: simcluster.Fail(202)},
				fault.Unavailable, true},
			{"no primary", &simcluster.Rule{Command: "dataSize", At: simcluster.Received, Err: simcluster.Fail(133)}, fault.Unavailable, false},
			{"not permitted", &simcluster.Rule{Command: "dataSize", At: simcluster.Received, Err: simcluster.Fail(13)}, fault.Forbidden, false},
		} {
			sim.Faults().Add(*tc.rule)
			_, err := c.RangeSize(t.Context(), coll.Meta, r, false)
			if fault.Of(err) != tc.want || errors.Is(err, context.DeadlineExceeded) != tc.slow {
				t.Errorf("%s: %v", tc.name, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.RangeSize(ctx, coll.Meta, r, false); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		other := must.Get(shardkey.ParsePattern(document(bson.D{{Key: "q", Value: int32(1)}})))
		m := coll.Meta
		m.Key = other
		if _, err := c.RangeSize(t.Context(), m, shardkey.Range{Min: other.Min(), Max: other.Max()}, false); fault.Of(err) != fault.Conflict {
			t.Errorf("another shard key: %v", err)
		}
	})
}

func TestMeasuringHasATimeLimitOnTheShards(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		addMeasuredCollection(t, sim)
		coll := shardedCollection(t, c, "db.c")
		var limit any
		sim.Faults().Add(simcluster.Rule{Command: "dataSize", At: simcluster.Received, Match: func(command bson.Raw) bool {
			limit = command.Lookup("maxTimeMS").String()
			return false
		}})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		must.Do(t, must.Err(c.RangeSize(ctx, coll.Meta, rangeOf(coll.Chunks.At(1)), false)))
		expect.That(t, limit != nil && limit != "", "the command has no maxTimeMS")
	})
}

func document(d bson.D) bson.Raw { return must.Get(bson.Marshal(d)) }
