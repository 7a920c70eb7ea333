package simcluster

import (
	"os"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// Operations on one chunk must not become slower with the number of chunks. All together
// take a second; the limit is far above that, so that only a wrong complexity fails.
func TestCommandsStayFastWithManyChunks(t *testing.T) {
	const limit = time.Minute
	n := 10_000
	if os.Getenv("SHARDBOARD_LONG") != "" {
		n = 100_000
	}
	begun := time.Now()
	for _, version := range []string{"5.0", "8.0"} {
		c := emptyCluster(t, func(o *Options) { o.ServerVersion = version })
		mustRun(t, c, "admin", d("enableSharding", "d"))
		mustRun(t, c, "admin", d("shardCollection", "d.m", "key", d("p", int32(1))))
		points := make([]bson.Raw, n-1)
		for i := range points {
			points[i] = encode(d("p", int64(i)*10))
		}
		c.catalog.Mu.Lock()
		must.Do(t, c.catalog.SplitChunk("d.m", points[0], points))
		c.catalog.Mu.Unlock()
		docs := make(bson.A, 1000)
		for i := range docs {
			docs[i] = d("_id", int32(i), "p", int64(i)*10+5)
		}
		mustRun(t, c, "d", d("insert", "m", "documents", docs))
		for i := range int64(500) {
			mustRun(t, c, "d", d("find", "m", "filter", d("p", i*10+5)))
		}
		for i := range int64(50) {
			mustRun(t, c, "admin", d("split", "d.m", "middle", d("p", i*100+7)))
			mustRun(t, c, "admin", d("moveChunk", "d.m", "find", d("p", i*100+8), "to", "shard-rs-2"))
		}
		mustRun(t, c, "admin", d("balancerCollectionStatus", "d.m"))
	}
	if took := time.Since(begun); took > limit {
		t.Errorf("took %s, want at most %s", took, limit)
	}
}

// Chunks that are made when they are read are found by their bounds and versions like
// stored ones.
func TestVirtualChunksReadLikeStoredOnes(t *testing.T) {
	for _, version := range []string{"5.0", "8.0"} {
		c := emptyCluster(t, func(o *Options) { o.ServerVersion, o.ManyChunks = version, 1000 })
		uuid := mustRun(t, c, "config", d("find", "collections", "filter", d("_id", ManyNS))).Lookup("cursor", "firstBatch", "0", "uuid")
		read := func(filter bson.D, sort string) []bson.RawValue {
			reply := mustRun(t, c, "config",
				d("find", "chunks", "filter", append(d("uuid", uuid), filter...), "sort", d(sort, 1), "batchSize", 2000))
			rows, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
			return rows
		}
		all := read(nil, "min")
		must.That(t, len(all) == 1000, "%s: %d chunks", version, len(all))
		bound := func(i int) bson.RawValue { return all[i].Document().Lookup("min") }
		for what, rows := range map[string][]bson.RawValue{
			"by version":   read(nil, "lastmod")[700:],
			"from one on":  read(d("min", d("$gte", bound(700))), "min"),
			"of a version": read(d("lastmod", d("$gte", all[700].Document().Lookup("lastmod"))), "lastmod"),
			"by bounds":    append(read(d("min", d("$in", bson.A{bound(700), bound(900), d("k", int64(5))})), "min"), all[702:]...),
		} {
			expect.That(t, len(rows) == 300 && rows[0].Equal(all[700]), "%s %s: %d rows", version, what, len(rows))
		}
	}
}
