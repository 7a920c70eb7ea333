package keys_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/lab/keys"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
)

const (
	realNS     = "lab.rows"
	realShards = 3
	realChunk  = 1 << 20
)

// workloads are five collections that differ in what is large and what is frequent.
func workloads() map[string]keys.Model {
	out := map[string]keys.Model{
		"documents of few projects":  {Collection: "documents", Projects: 5, Rows: 4000, RowBytes: 2000, Skew: 1, Seed: 1},
		"documents of many projects": {Collection: "documents", Projects: 500, Rows: 4000, RowBytes: 2000, Seed: 2},
		"clients":                    {Collection: "clients", Projects: 40, Rows: 6000, RowBytes: 1100, Skew: 2, Seed: 3, Growth: 5},
		"changes":                    {Collection: "changes", Projects: 30, Documents: 600, Rows: 6000, RowBytes: 1500, Skew: 0.7, Seed: 4},
		"changes of few documents":   {Collection: "changes", Projects: 2, Documents: 4, Rows: 5000, RowBytes: 1700, Seed: 5},
	}
	for name, m := range out {
		m.Start, m.Span = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 30*24*time.Hour
		out[name] = m
	}
	return out
}

// candidates are five keys of a collection.
func candidates(collection string) []shardkey.Pattern {
	common := []string{`{"project_id":1}`, `{"project_id":1,"_id":"hashed"}`, `{"_id":1}`}
	if collection == "changes" {
		return patterns(append(common, `{"doc_id":"hashed"}`, `{"doc_id":1,"server_seq":1}`)...)
	}
	return patterns(append(common, `{"_id":"hashed"}`, `{"project_id":1,"key":1}`)...)
}

func patterns(texts ...string) (out []shardkey.Pattern) {
	for _, text := range texts {
		raw, err := shardkey.ParseExtJSON(text)
		if err != nil {
			panic(err)
		}
		p, err := shardkey.ParsePattern(raw)
		if err != nil {
			panic(err)
		}
		out = append(out, p)
	}
	return out
}

// rows are the documents of a model, padded to the size that it says.
func rows(t *testing.T, m keys.Model) (out []bson.Raw) {
	t.Helper()
	err := m.Each(func(row bson.D) error {
		raw, err := bson.Marshal(append(row, bson.E{Key: "pad", Value: ""}))
		if err != nil {
			return err
		}
		raw, err = bson.Marshal(append(row, bson.E{Key: "pad", Value: strings.Repeat("x", m.RowBytes-len(raw))}))
		if err == nil && len(raw) != m.RowBytes {
			err = fmt.Errorf("a row has %d bytes, expected %d", len(raw), m.RowBytes)
		}
		out = append(out, raw)
		return err
	})
	must.Do(t, err)
	return out
}

// realCluster is a simulated cluster with small chunks that has the rows.
type realCluster struct {
	t *testing.T
	*simulated.Cluster
}

func onRealCluster(t *testing.T, docs []bson.Raw, test func(t *testing.T, r realCluster)) {
	t.Helper()
	o := simcluster.Options{Empty: true, Still: true, Shards: realShards, OrphanDelay: time.Second}
	simulated.Run(t, o, func(t *testing.T, c *simulated.Cluster) {
		r := realCluster{t, c}
		r.run("config", bson.D{{Key: "update", Value: "settings"}, {Key: "updates", Value: bson.A{bson.D{
			{Key: "q", Value: bson.D{{Key: "_id", Value: "chunksize"}}},
			{Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "value", Value: 1}}}}},
			{Key: "upsert", Value: true}}}}})
		r.run("admin", bson.D{{Key: "enableSharding", Value: "lab"}})
		must.Do(t, c.BulkInsert(realNS, slices.Clone(docs)))
		test(t, r)
	})
}

func (r realCluster) run(db string, cmd bson.D) bson.Raw { r.t.Helper(); return r.Do(r.t, db, cmd) }

func (r realCluster) shard(key shardkey.Pattern) {
	r.t.Helper()
	if key.String() != "{_id: 1}" {
		r.run("lab", bson.D{{Key: "createIndexes", Value: "rows"}, {Key: "indexes", Value: bson.A{
			bson.D{{Key: "key", Value: key.Raw()}, {Key: "name", Value: "key"}}}}})
	}
	r.run("admin", bson.D{{Key: "shardCollection", Value: realNS}, {Key: "key", Value: key.Raw()}})
}

// bytes are the sizes of the shards, without orphans once they are deleted.
func (r realCluster) bytes() []int64 {
	r.t.Helper()
	var out []int64
	reply := r.run("lab", bson.D{{Key: "collStats", Value: "rows"}})
	shards, _ := reply.Lookup("shards").DocumentOK()
	elements, err := shards.Elements()
	must.Do(r.t, err)
	for _, e := range elements {
		n, _ := e.Value().Document().Lookup("size").AsInt64OK()
		out = append(out, n)
	}
	for len(out) < realShards {
		out = append(out, 0)
	}
	return out
}

// splitFirst splits the only chunk as the balancer does with one that is too big to move. Without writes and with one
// chunk it has no reason to try.
func (r realCluster) splitFirst() {
	r.t.Helper()
	c := r.Catalog()
	c.Mu.Lock()
	defer c.Mu.Unlock()
	must.Do(r.t, c.SplitOrMark(realNS, c.Routing(realNS).Chunks()[0].Min))
}

// heldChunk is a chunk's bytes and values.
type heldChunk struct {
	bytes  int64
	values map[string]bool
}

// chunks are all chunks with what they hold.
func (r realCluster) chunks(key shardkey.Pattern, docs []bson.Raw) []heldChunk {
	r.t.Helper()
	all := must.Get(r.Watcher.Load(r.t.Context())).Collection(realNS).Chunks
	out := make([]heldChunk, all.Len())
	for _, doc := range docs {
		k := must.Get(key.Extract(doc))
		i, _ := all.Find(k)
		if out[i].values == nil {
			out[i].values = map[string]bool{}
		}
		out[i].bytes += int64(len(doc))
		out[i].values[k.Encoded()] = true
	}
	return out
}

// The report of a key is what a cluster makes of the same rows when it is sharded, or resharded, by that key:
//
//   - sharded: as many chunks, with the same sizes, and as many that no split divides; bytes of each shard within one
//     chunk size, once the balancer has nothing to do;
//   - resharded: the same bytes on the shards.
//
// Short tests try each workload with one key, and each key with one workload.
func TestReportsAreWhatAClusterMakesOfTheRows(t *testing.T) {
	long := os.Getenv("SHARDBOARD_LONG") != ""
	names := []string{"documents of few projects", "documents of many projects", "clients", "changes", "changes of few documents"}
	for w, name := range names {
		m := workloads()[name]
		for k, key := range candidates(m.Collection) {
			if !long && w != k {
				continue
			}
			t.Run(name+" "+key.String(), func(t *testing.T) {
				docs := rows(t, m)
				onRealCluster(t, docs, func(t *testing.T, r realCluster) { compareSharded(t, r, m, docs, key) })
				onRealCluster(t, docs, func(t *testing.T, r realCluster) { compareResharded(t, r, m, key) })
			})
		}
	}
}

// report is that of a key over a model.
func report(t *testing.T, m keys.Model, today, key shardkey.Pattern) keys.Report {
	t.Helper()
	s, err := m.Sample()
	must.Do(t, err)
	c := &keys.Cluster{Shards: realShards, ChunkSize: realChunk, BytesPerSecond: 1 << 20, CanReshard: true, Today: today}
	reports, err := keys.Compare(s, c, []keys.Candidate{{Key: key}})
	must.That(t, err == nil && reports[0].Err == nil, "%v %v", err, reports)
	return reports[0]
}

func compareSharded(t *testing.T, r realCluster, m keys.Model, docs []bson.Raw, key shardkey.Pattern) {
	r.shard(key)
	r.splitFirst()
	r.run("admin", bson.D{{Key: "balancerStart", Value: 1}})
	time.Sleep(2 * time.Hour)
	want := report(t, m, shardkey.Pattern{}, key)
	var stuck, smallest, largest = 0, int64(1) << 40, int64(0)
	chunks := r.chunks(key, docs)
	for _, c := range chunks {
		if c.bytes > realChunk && len(c.values) == 1 {
			stuck++
		}
		smallest, largest = min(smallest, c.bytes), max(largest, c.bytes)
	}
	if len(chunks) != want.Chunks || stuck != want.Stuck || smallest != want.Smallest || largest != want.Largest {
		t.Errorf("sharded: %d chunks of %d to %d bytes, %d stuck; expected %d of %d to %d, %d", len(chunks), smallest, largest, stuck,
			want.Chunks, want.Smallest, want.Largest, want.Stuck)
	}
	got, parts := r.bytes(), slices.Clone(want.Parts)
	slices.Sort(got)
	slices.Sort(parts)
	for i := range got {
		if d := got[i] - parts[i]; d > realChunk || d < -realChunk {
			t.Errorf("sharded: the shards have %v bytes, expected %v", got, parts)
			break
		}
	}
}

func compareResharded(t *testing.T, r realCluster, m keys.Model, key shardkey.Pattern) {
	today := patterns(`{"pad":1}`)[0]
	r.shard(today)
	r.run("admin", bson.D{{Key: "reshardCollection", Value: realNS}, {Key: "key", Value: key.Raw()}})
	time.Sleep(time.Hour)
	got, want := r.bytes(), report(t, m, today, key).Parts
	slices.Sort(got)
	slices.Sort(want)
	expect.That(t, slices.Equal(got, want), "resharded: the shards have %v bytes, expected %v", got, want)
}
