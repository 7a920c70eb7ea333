package simcluster

import (
	"os"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// manyChunks makes a still cluster whose d.m on {p: 1} has n chunks, with a document in
// each of the first thousand.
func manyChunks(t testing.TB, n int, version string) *Cluster {
	t.Helper()
	c := emptyCluster(t, func(o *Options) { o.ServerVersion = version })
	do := func(db string, cmd bson.D) {
		if _, err := c.Command(t.Context(), db, cmd); err != nil {
			t.Fatal(err)
		}
	}
	do("admin", bson.D{{Key: "enableSharding", Value: "d"}})
	do("admin", bson.D{{Key: "shardCollection", Value: "d.m"}, {Key: "key", Value: bson.D{{Key: "p", Value: int32(1)}}}})
	points := make([]bson.Raw, n-1)
	for i := range points {
		points[i] = encode(bson.D{{Key: "p", Value: int64(i) * 10}})
	}
	if err := c.catalog.Split(t.Context(), "d.m", points...); err != nil {
		t.Fatal(err)
	}
	docs := make(bson.A, 1000)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: int32(i)}, {Key: "p", Value: int64(i)*10 + 5}}
	}
	do("d", bson.D{{Key: "insert", Value: "m"}, {Key: "documents", Value: docs}})
	return c
}

// Operations on one chunk must not become slower with the number of chunks. The limits
// are far above what an idle machine needs, so that only a wrong complexity fails.
func TestCommandsStayFastWithManyChunks(t *testing.T) {
	n := 10_000
	if os.Getenv("SHARDBOARD_LONG") != "" {
		n = 100_000
	}
	for _, version := range []string{"5.0", "8.0"} {
		begin := time.Now()
		c := manyChunks(t, n, version)
		t.Logf("%s: %d chunks in %s", version, n, time.Since(begin))
		each := func(what string, times int, limit time.Duration, db string, cmd func(i int) bson.D) {
			t.Helper()
			begin := time.Now()
			for i := range times {
				if _, err := c.Command(t.Context(), db, cmd(i)); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			took := time.Since(begin) / time.Duration(times)
			t.Logf("%s: %s %s", version, what, took)
			if took > limit {
				t.Errorf("%s: %s takes %s, want at most %s", version, what, took, limit)
			}
		}
		key := func(n int64) bson.D { return bson.D{{Key: "p", Value: n}} }
		each("find", 500, 20*time.Millisecond, "d", func(i int) bson.D {
			return bson.D{{Key: "find", Value: "m"}, {Key: "filter", Value: key(int64(i)*10 + 5)}}
		})
		each("split", 50, 100*time.Millisecond, "admin", func(i int) bson.D {
			return bson.D{{Key: "split", Value: "d.m"}, {Key: "middle", Value: key(int64(i)*100 + 7)}}
		})
		each("move", 50, 200*time.Millisecond, "admin", func(i int) bson.D {
			return bson.D{{Key: "moveChunk", Value: "d.m"}, {Key: "find", Value: key(int64(i)*100 + 8)}, {Key: "to", Value: "shard-rs-2"}}
		})
		each("status", 3, 2*time.Second, "admin", func(int) bson.D {
			return bson.D{{Key: "balancerCollectionStatus", Value: "d.m"}}
		})
	}
}

func BenchmarkSplitIntoChunks(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		begin := time.Now()
		manyChunks(b, n, "5.0")
		b.ReportMetric(float64(time.Since(begin).Microseconds())/n, "µs/chunk")
	}
}
