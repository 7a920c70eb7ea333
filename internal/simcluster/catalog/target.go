package catalog

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
)

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
