package replay

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
)

// collection is the expected content of a collection: its documents and its last known
// chunks.
type collection struct {
	name    string
	pattern shardkey.Pattern
	docs    map[int32]bson.Raw // by _id
	chunks  []chunk            // by min
	version uint64             // highest seen
}

type chunk struct {
	min, max bson.Raw
	in       shardkey.Range
	shard    string
	version  uint64
}

func newCollection(t *testing.T, name string, key bson.D) *collection {
	t.Helper()
	p := must.Get(shardkey.ParsePattern(encode(key)))
	return &collection{name: name, pattern: p, docs: make(map[int32]bson.Raw)}
}

func (c *collection) ns() string { return "w." + c.name }

// shardKey is a document's shard key.
func (c *collection) shardKey(t *testing.T, doc bson.Raw) shardkey.Key {
	t.Helper()
	k, err := c.pattern.Extract(doc)
	must.That(t, err == nil, "%s: key of %s: %v", c.name, doc, err)
	return k
}

// chunkAt is the chunk that holds a key.
func (c *collection) chunkAt(k shardkey.Key) chunk {
	for _, ch := range c.chunks {
		if ch.in.Contains(k) {
			return ch
		}
	}
	return chunk{}
}

// checkChunks reads and checks the chunk table: no gaps or overlaps, unique versions that
// never decrease, one owner per chunk.
func (w *walk) checkChunks(c *collection) {
	w.t.Helper()
	info := w.mustRun("config", bson.D{{Key: "find", Value: "collections"}, {Key: "filter", Value: bson.D{{Key: "_id", Value: c.ns()}}}})
	uuid := info.Lookup("cursor", "firstBatch", "0", "uuid")
	reply := w.mustRun("config", bson.D{
		{Key: "find", Value: "chunks"}, {Key: "filter", Value: bson.D{{Key: "uuid", Value: uuid}}},
		{Key: "sort", Value: bson.D{{Key: "min", Value: 1}}}, {Key: "batchSize", Value: 100000},
	})
	rows, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
	c.chunks = c.chunks[:0]
	seen := make(map[uint64]bool)
	at, highest := c.pattern.Min(), uint64(0)
	for _, row := range rows {
		d := row.Document()
		ch := chunk{min: d.Lookup("min").Document(), max: d.Lookup("max").Document(), shard: d.Lookup("shard").StringValue()}
		lo, err1 := c.pattern.Bound(ch.min)
		hi, err2 := c.pattern.Bound(ch.max)
		must.That(w.t, err1 == nil && err2 == nil, "%s: chunk %s: %v %v, want err1 nil, err2 nil", c.name, d, err1, err2)
		ch.in = shardkey.Range{Min: lo, Max: hi}
		major, minor := d.Lookup("lastmod").Timestamp()
		ch.version = uint64(major)<<32 | uint64(minor)
		must.That(w.t, lo.Compare(at) == 0 && lo.Compare(hi) < 0, "%s: chunk %s does not follow the one before", c.name, d)
		must.That(w.t, !seen[ch.version], "%s: version %d|%d twice", c.name, major, minor)
		if h := d.Lookup("history", "0", "shard").StringValue(); h != ch.shard {
			w.t.Fatalf("%s: chunk on %s with a history that begins with %s", c.name, ch.shard, h)
		}
		seen[ch.version] = true
		highest = max(highest, ch.version)
		c.chunks = append(c.chunks, ch)
		at = hi
	}
	must.That(w.t, at.Compare(c.pattern.Max()) == 0, "%s: the chunks end early", c.name)
	must.That(w.t, highest >= c.version, "%s: version fell from %x to %x", c.name, c.version, highest)
	c.version = highest
}

// checkDocuments checks that every document exists exactly once.
func (w *walk) checkDocuments(c *collection) {
	w.t.Helper()
	reply := w.mustRun("w", bson.D{{Key: "find", Value: c.name}, {Key: "sort", Value: bson.D{{Key: "_id", Value: 1}}},
		{Key: "batchSize", Value: 100000}})
	rows, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
	must.That(w.t, len(rows) == len(c.docs), "%s has %d documents, want %d", c.name, len(rows), len(c.docs))
	for _, row := range rows {
		d := row.Document()
		if id := d.Lookup("_id").Int32(); string(c.docs[id]) != string(d) {
			w.t.Fatalf("%s: document %d is %s, want %s", c.name, id, d, c.docs[id])
		}
	}
}
