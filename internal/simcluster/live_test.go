package simcluster

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/value"
)

// The dashboard's routing poll must not read every chunk: the highest version of each
// collection comes from the index.
func TestRoutingPollReadsOneChunkPerCollection(t *testing.T) {
	c := emptyCluster(t)
	shardIntoThree(t, c)
	for i := range 50 {
		mustRun(t, c, "admin", d("split", "db.coll", "middle", d("k", 1000+i)))
	}
	reply := mustRun(t, c, "config", d("aggregate", "collections", "cursor", bson.D{}, "pipeline", bson.A{
		d("$match", d("_id", "db.coll")),
		d("$lookup", d("from", "chunks", "let", d("u", "$uuid"), "as", "top", "pipeline", bson.A{
			d("$match", d("$expr", d("$eq", bson.A{"$uuid", "$$u"}))), d("$sort", d("lastmod", -1)), d("$limit", 1),
			d("$project", d("_id", 0, "lastmod", 1)),
		})),
	}))
	top := reply.Lookup("cursor", "firstBatch", "0", "top")
	if list, ok := top.ArrayOK(); !ok || shellText(bson.Raw(list)) == "{}" {
		t.Fatalf("no version in %s", shellText(reply))
	}
	version := c.catalog.Routing("db.coll").Version()
	major, minor := reply.Lookup("cursor", "firstBatch", "0", "top", "0", "lastmod").Timestamp()
	if major != version.T || minor != version.I {
		t.Errorf("highest version %d|%d, want %v", major, minor, version)
	}
	id := c.catalog.Routing("db.coll").UUID
	env := &expr.Env{Vars: map[string]bson.RawValue{"u": encode(bson.D{{Key: "u", Value: uuidValue(id)}}).Lookup("u")}}
	filter, err := parseFilter(encode(d("$expr", d("$eq", bson.A{"$uuid", "$$u"}))), env)
	if err != nil {
		t.Fatal(err)
	}
	cur := c.catalog.Config.Coll("config", "chunks").Query(engine.Query{Filter: filter, Sort: encode(d("lastmod", -1)), Limit: 1})
	if _, err := drain(t.Context(), cur); err != nil {
		t.Fatal(err)
	}
	if p := cur.Plan(); p.DocsExamined > 1 {
		t.Errorf("read %d chunks by %s %s, want at most 1", p.DocsExamined, p.Stage, p.Index)
	}
}

// After three minutes with balancer and writers nothing has failed, the chunk table has
// no gaps, and every document is on the shard that owns its key.
func TestLiveClusterStaysConsistent(t *testing.T) {
	if testing.Short() {
		t.Skip("runs minutes of workload")
	}
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Options{Projects: 8, Documents: 300, Epoch: fixedEpoch()})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.Start(t.Context())
		for range 6 {
			time.Sleep(30 * time.Second)
			checkConsistency(t, c)
		}
		if c.stats.inserts.Load() == 0 {
			t.Error("nothing was written")
		}
	})
}

// checkConsistency checks every sharded collection: chunks have no gaps or overlaps,
// and a scatter read finds every owned document once.
func checkConsistency(t *testing.T, c *Cluster) {
	t.Helper()
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	for _, ns := range c.catalog.Namespaces() {
		r := c.catalog.Routing(ns)
		chunks := r.Chunks()
		for i := 1; i < len(chunks); i++ {
			if string(chunks[i-1].Max) != string(chunks[i].Min) {
				t.Fatalf("%s: chunk %d ends at %s, the next begins at %s", ns, i-1, shellText(chunks[i-1].Max), shellText(chunks[i].Min))
			}
		}
		db, coll, _ := cut(ns)
		docs, err := c.target(db, coll, nil).gather(t.Context(), selection{})
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool, len(docs))
		for _, doc := range docs {
			id := string(doc.Lookup("_id").Value)
			if seen[id] {
				t.Fatalf("%s has %s twice", ns, value.Text(doc.Lookup("_id")))
			}
			seen[id] = true
		}
	}
}
