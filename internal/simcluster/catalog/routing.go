package catalog

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// Routing is the routing table of one sharded collection and its document of
// config.collections. Readers hold Mu for reading; only this package changes tables,
// with Mu held for writing.
type Routing struct {
	NS        string
	UUID      [16]byte
	Key       bson.Raw // shard key pattern
	Epoch     bson.ObjectID
	Timestamp bson.Timestamp // of this incarnation
	Lastmod   time.Time      // of config.collections; not a version
	Unique    bool
	NoBalance bool
	Permitted bool // false while setAllowMigrations forbids migrations

	pattern pattern
	chunks  []*Chunk // sorted by Min, without gaps
	counts  map[string]int
	version bson.Timestamp // collection version: the highest of its chunks
	format  versionFeatures
	record  engine.RecordID
	simple  bool        // the document has defaultCollation {locale: "simple"}
	extra   bson.D      // further fields of the document, such as reshardingFields
	blocked bool        // a resharding forbids migrations (allowMigrations: false)
	newer   newerFields // fields of versions after 5.0
	written map[bson.ObjectID]int64
}

// Routing returns the table of a sharded collection, or nil. The caller holds Mu.
func (c *Cluster) Routing(ns string) *Routing { return c.routes[ns] }

// Namespaces are all sharded namespaces, sorted. The caller holds Mu.
func (c *Cluster) Namespaces() []string { return sortedKeys(c.routes) }

// KeyOf extracts the shard key of a document; a hashed field is replaced by its hash, a
// missing one by null. An array is ShardKeyNotFound (61).
func (r *Routing) KeyOf(doc bson.Raw) (bson.Raw, error) { return r.pattern.keyOf(doc) }

// Owner is the shard that owns a full key, as returned by [Routing.KeyOf].
func (r *Routing) Owner(key bson.Raw) string { return r.chunks[r.indexOf(key)].Shard }

// PlaceOf is the shard of a document of a sharded collection, and its chunk's position in the order of the
// key; "" if there is none. The caller does not hold Mu.
func (c *Cluster) PlaceOf(ns string, doc bson.Raw) (shard string, chunk int) {
	c.Mu.RLock()
	defer c.Mu.RUnlock()
	r := c.routes[ns]
	if r == nil {
		return "", 0
	}
	key, err := r.KeyOf(doc)
	if err != nil {
		return "", 0
	}
	i := r.indexOf(key)
	return r.chunks[i].Shard, i
}

// Owns reports whether doc on shard is owned by it, that is, not an orphan.
func (r *Routing) Owns(shard string, doc bson.Raw) bool {
	switch r.counts[shard] {
	case 0:
		return false
	case len(r.chunks):
		return true
	}
	key, err := r.pattern.keyOf(doc)
	return err == nil && r.Owner(key) == shard
}

// Chunks returns a copy of the list of chunks in key order; the bounds are shared.
func (r *Routing) Chunks() []Chunk {
	out := make([]Chunk, len(r.chunks))
	for i, ch := range r.chunks {
		out[i] = *ch
	}
	return out
}

// Balanced reports whether the balancer may move chunks of the collection.
func (r *Routing) Balanced() bool { return !r.NoBalance && r.Permitted && !r.blocked }

// Len is the number of chunks.
func (r *Routing) Len() int { return len(r.chunks) }

// Inside lists the chunks that are completely inside [lo, hi), in key order.
func (r *Routing) Inside(lo, hi bson.Raw) (out []*Chunk) {
	for _, ch := range r.chunks {
		if compareKeys(lo, ch.Min) <= 0 && compareKeys(ch.Max, hi) <= 0 {
			out = append(out, ch)
		}
	}
	return out
}

// Count is the number of chunks that shard owns.
func (r *Routing) Count(shard string) int { return r.counts[shard] }

// ShardsOwning are the shards with at least one chunk, sorted.
func (r *Routing) ShardsOwning() []string { return sortedKeys(r.counts) }

// Version is the collection version: the highest chunk version.
func (r *Routing) Version() bson.Timestamp { return r.version }

// FieldNames are the fields of the shard key in order.
func (r *Routing) FieldNames() []string {
	names := make([]string, len(r.pattern.fields))
	for i, f := range r.pattern.fields {
		names[i] = f.name
	}
	return names
}

// setChunks replaces the whole table.
func (r *Routing) setChunks(chunks []*Chunk) {
	slices.SortFunc(chunks, func(a, b *Chunk) int { return compareKeys(a.Min, b.Min) })
	r.chunks, r.counts, r.version = chunks, make(map[string]int), bson.Timestamp{}
	for _, ch := range chunks {
		r.counts[ch.Shard]++
		if older(r.version, ch.Version) {
			r.version = ch.Version
		}
	}
}

// bumpMajor and bumpMinor are the next collection versions.
func (r *Routing) bumpMajor() bson.Timestamp {
	r.version = bson.Timestamp{T: r.version.T + 1}
	return r.version
}

func (r *Routing) bumpMinor() bson.Timestamp {
	r.version.I++
	return r.version
}

// newest is the chunk that has the collection version.
func (r *Routing) newest() *Chunk {
	for _, ch := range r.chunks {
		if ch.Version == r.version {
			return ch
		}
	}
	return r.chunks[0]
}

// countChunk changes a shard's number of chunks.
func (r *Routing) countChunk(shard string, by int) {
	r.counts[shard] += by
	if r.counts[shard] == 0 {
		delete(r.counts, shard)
	}
}
