package catalog

import (
	"slices"
	"sort"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
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
	release release
	record  engine.RecordID
	simple  bool        // the document has defaultCollation {locale: "simple"}
	extra   bson.D      // further fields of the document, such as reshardingFields
	blocked bool        // a resharding forbids migrations (allowMigrations: false)
	newer   newerFields // fields of versions after 5.0
	written map[bson.ObjectID]int64
}

// Routing returns the table of a sharded collection, or nil. The caller holds Mu.
func (c *Cluster) Routing(ns string) *Routing {
	if r := c.tables[ns]; r != nil && !r.newer.unsplittable {
		return r
	}
	return nil
}

// Namespaces are all sharded namespaces, sorted. The caller holds Mu.
func (c *Cluster) Namespaces() []string { return c.namespaces(false) }

func (c *Cluster) namespaces(unsharded bool) []string {
	return slices.DeleteFunc(sortedKeys(c.tables), func(ns string) bool { return c.tables[ns].newer.unsplittable != unsharded })
}

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
	r := c.Routing(ns)
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

// Placement is one entry of a chunk's history: since when a shard owned it.
type Placement struct {
	ValidAfter bson.Timestamp
	Shard      string
}

// Chunk is one range [Min, Max) of a collection's key space. Do not modify it: the
// values belong to the routing table.
type Chunk struct {
	ID      bson.ObjectID
	Min     bson.Raw // full shard key, inclusive
	Max     bson.Raw // full shard key, exclusive
	Shard   string
	Version bson.Timestamp // lastmod: T is the major, I the minor version
	History []Placement    // newest first, never empty
	Jumbo   bool

	flagged bool // the field jumbo exists, even if false
	record  engine.RecordID
}

// document is the chunk's document in config.chunks, with the fields in the server's
// order.
func (r *Routing) document(ch *Chunk) bson.D {
	history := make(bson.A, len(ch.History))
	for i, p := range ch.History {
		history[i] = value.D("validAfter", p.ValidAfter, "shard", r.release.shardRef(p.Shard))
	}
	byNS := !r.release.since(5)
	return value.D("_id", ch.ID, value.When(byNS, "ns", r.NS), value.When(!byNS, "uuid", uuidValue(r.UUID)),
		"min", ch.Min, "max", ch.Max, "shard", r.release.shardRef(ch.Shard), "lastmod", ch.Version,
		value.When(byNS, "lastmodEpoch", r.Epoch), value.When(ch.Jumbo || ch.flagged, "jumbo", ch.Jumbo),
		value.When(r.release.since(7), "onCurrentShardSince", ch.History[0].ValidAfter), "history", history)
}

// parseChunk reads a document of config.chunks that a client may have written.
func (f release) parseChunk(id engine.RecordID, doc bson.Raw) *Chunk {
	ch := &Chunk{record: id}
	ch.ID, _ = doc.Lookup("_id").ObjectIDOK()
	lo, _ := doc.Lookup("min").DocumentOK()
	hi, _ := doc.Lookup("max").DocumentOK()
	ch.Min, ch.Max = append(bson.Raw(nil), lo...), append(bson.Raw(nil), hi...)
	ch.Shard = f.shardName(doc.Lookup("shard"))
	ch.Version.T, ch.Version.I, _ = doc.Lookup("lastmod").TimestampOK()
	ch.Jumbo, ch.flagged = truthy(doc.Lookup("jumbo")), doc.Lookup("jumbo").Type != 0
	for e := range value.Items(doc.Lookup("history")) {
		var p Placement
		p.ValidAfter.T, p.ValidAfter.I, _ = value.Field(e.Value, "validAfter").TimestampOK()
		p.Shard = f.shardName(value.Field(e.Value, "shard"))
		ch.History = append(ch.History, p)
	}
	if len(ch.History) == 0 {
		ch.History = []Placement{{Shard: ch.Shard}}
	}
	return ch
}

// older reports whether version a comes before b.
func older(a, b bson.Timestamp) bool { return a.T < b.T || a.T == b.T && a.I < b.I }

// indexOf is the index of the chunk that contains key.
func (r *Routing) indexOf(key bson.Raw) int {
	n := sort.Search(len(r.chunks), func(i int) bool { return compareKeys(r.chunks[i].Min, key) > 0 })
	return max(n-1, 0)
}

// chunkExactly is the chunk with exactly these bounds, or nil.
func (r *Routing) chunkExactly(lo, hi bson.Raw) *Chunk {
	ch := r.chunks[r.indexOf(lo)]
	if compareKeys(ch.Min, lo) != 0 || compareKeys(ch.Max, hi) != 0 {
		return nil
	}
	return ch
}

// Target lists the shards that a filter needs, sorted. An equality on every field of
// the key needs one shard; bounds on a prefix need the shards of the spanned ranges;
// anything else needs every shard that owns a chunk. A filter that cannot match
// anything still needs one shard, that of the first chunk (s/chunk_manager.cpp,
// getShardIdsForQuery). The caller holds Mu.
func (r *Routing) Target(f *query.Filter) []string {
	shards := make(map[string]bool)
	for _, k := range r.ranges(f) {
		r.addOwners(k.low, k.high, shards)
		if len(shards) == len(r.counts) {
			break
		}
	}
	if len(shards) == 0 {
		shards[r.chunks[0].Shard] = true
	}
	return sortedKeys(shards)
}

// KeyFromFilter is the full shard key given by the filter's equalities, nil when they
// leave out a field; hashed fields are hashed.
func (r *Routing) KeyFromFilter(f *query.Filter) bson.Raw {
	values := make(map[string]bson.RawValue)
	for _, e := range f.Equalities() {
		values[e.Path] = e.Value
	}
	d := value.NewBuilder(64)
	for _, field := range r.pattern.fields {
		v, ok := values[field.name]
		if !ok || v.Type == bson.TypeArray || v.Type == bson.TypeRegex {
			return nil
		}
		if field.hashed {
			v = hash(v)
		}
		d.Append(field.name, v)
	}
	return d.Raw()
}

// keyRange is a range of full keys, both ends included.
type keyRange struct{ low, high bson.Raw }

// maxRanges limits the cross product of several $in lists. Beyond it the rest of the
// key is left open, which may target too many shards but never too few.
const maxRanges = 10_000

// ranges converts the filter's bounds into ranges of full keys: points are combined,
// and after the first field with a range, the bounds of later fields only limit the
// start of the first and the end of the last range (s/shard_key_pattern.cpp,
// flattenBounds).
func (r *Routing) ranges(f *query.Filter) []keyRange {
	if key := r.KeyFromFilter(f); key != nil {
		return []keyRange{{key, key}}
	}
	heads := []keyPrefix{{}}
	for _, field := range r.pattern.fields {
		bounds := f.Bounds(field.name)
		if len(bounds) == 0 {
			return nil
		}
		if field.hashed {
			bounds = query.Hashed(bounds)
		}
		if heads[0].open || len(heads)*len(bounds) > maxRanges {
			appendSpan(heads, field.name, bounds[0], bounds[len(bounds)-1])
			continue
		}
		next := make([]keyPrefix, 0, len(heads)*len(bounds))
		open := !query.AllPoints(bounds)
		for _, h := range heads {
			for _, b := range bounds {
				next = append(next, keyPrefix{
					low:  append(slices.Clip(h.low), bson.E{Key: field.name, Value: b.Low}),
					high: append(slices.Clip(h.high), bson.E{Key: field.name, Value: b.High}),
					open: open,
				})
			}
		}
		heads = next
	}
	out := make([]keyRange, len(heads))
	for i, h := range heads {
		out[i] = keyRange{encode(h.low), encode(h.high)}
	}
	return out
}

// keyPrefix is the first fields of a key range; open after a field that is not a point.
type keyPrefix struct {
	low, high bson.D
	open      bool
}

// appendSpan adds to every prefix one field, from its lowest to its highest bound.
func appendSpan(heads []keyPrefix, name string, first, last query.Interval) {
	for i := range heads {
		heads[i].low = append(heads[i].low, bson.E{Key: name, Value: first.Low})
		heads[i].high = append(heads[i].high, bson.E{Key: name, Value: last.High})
		heads[i].open = true
	}
}

// addOwners adds the owners of all chunks that overlap [low, high].
func (r *Routing) addOwners(low, high bson.Raw, shards map[string]bool) {
	for i := r.indexOf(low); i < len(r.chunks); i++ {
		ch := r.chunks[i]
		if i > 0 && compareKeys(ch.Min, high) > 0 {
			return
		}
		shards[ch.Shard] = true
		if len(shards) == len(r.counts) {
			return
		}
	}
}
