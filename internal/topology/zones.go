package topology

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
)

// CompleteZones gives ranges the keys that their documents stand for in a
// collection, as a table has them; for who reads ranges without a table.
func CompleteZones(zones []ZoneRange, of *Collection) []ZoneRange {
	return completeZones(zones, &Table{Collections: []*Collection{of}})
}

// completeZones gives the ranges of t's collections their keys, and sorts all
// by namespace and lower bound. Ranges of a collection that is not sharded, or
// that do not fit its key, keep only the stored documents.
func completeZones(zones []ZoneRange, t *Table) []ZoneRange {
	if zones == nil {
		return nil
	}
	out := slices.Clone(zones)
	for i := range out {
		z := &out[i]
		z.Min, z.Max = shardkey.Key{}, shardkey.Key{}
		c := t.Collection(z.NS)
		if c == nil {
			continue
		}
		lo, errLo := zoneBound(c.Key, z.RawMin)
		hi, errHi := zoneBound(c.Key, z.RawMax)
		if errLo == nil && errHi == nil && lo.Compare(hi) < 0 {
			z.Min, z.Max = lo, hi
		}
	}
	slices.SortFunc(out, func(a, b ZoneRange) int {
		return cmp.Or(cmp.Compare(a.NS, b.NS), a.Min.Compare(b.Min), bytes.Compare(a.RawMin, b.RawMin))
	})
	return out
}

// zoneBound completes a stored bound to a key. A bound may be a prefix of the
// shard key when it was written before sharding or by hand; the missing fields
// count as MinKey, on both ends (MongoDB 5.0.7, s/shard_key_pattern.cpp).
func zoneBound(p shardkey.Pattern, doc bson.Raw) (shardkey.Key, error) {
	elements, err := doc.Elements()
	if err != nil {
		return shardkey.Key{}, err
	}
	fields := p.Fields()
	if len(elements) >= len(fields) {
		return p.Bound(doc)
	}
	full := make(bson.D, 0, len(fields))
	for i, f := range fields {
		if i >= len(elements) {
			full = append(full, bson.E{Key: f.Name, Value: bson.MinKey{}})
			continue
		}
		name, err := elements[i].KeyErr()
		if err != nil {
			return shardkey.Key{}, err
		}
		value, err := elements[i].ValueErr()
		if err != nil {
			return shardkey.Key{}, err
		}
		full = append(full, bson.E{Key: name, Value: value})
	}
	raw, err := bson.Marshal(full)
	if err != nil {
		return shardkey.Key{}, err
	}
	return p.Bound(raw)
}

// ZoneShards are the shards that carry each zone.
func (t *Table) ZoneShards() map[string][]string {
	out := map[string][]string{}
	for _, s := range t.Shards {
		for _, z := range s.Zones {
			out[z] = append(out[z], s.Name)
		}
	}
	return out
}

// CarriersOf are the shards that carry a zone.
func (t *Table) CarriersOf(zone string) (out []string) {
	for _, s := range t.Shards {
		if slices.Contains(s.Zones, zone) {
			out = append(out, s.Name)
		}
	}
	return out
}

// RangeChunks says where the chunks of one zone range are.
type RangeChunks struct {
	Count      int      // chunks that overlap the range
	Shards     []string // that have them, sorted
	Straddling int      // chunks that a bound of the range cuts: until they are split, no zone binds them
	Outside    int      // chunks on a shard without the zone, straddling ones included
	Misplaced  []int    // positions of chunks wholly in the range, on a shard without the zone
}

// RangeChunks looks at every chunk that overlaps a zone range. ok is false for a
// collection that is not sharded and for bounds that do not fit its key.
func (t *Table) RangeChunks(z ZoneRange) (out RangeChunks, ok bool) {
	c := t.Collection(z.NS)
	if c == nil || c.Chunks == nil || z.Min.IsZero() {
		return out, false
	}
	carry := t.CarriersOf(z.Zone)
	from, to := c.Chunks.Overlap(shardkey.Range{Min: z.Min, Max: z.Max})
	out.Count = to - from
	seen := map[string]bool{}
	for i := from; i < to; i++ {
		owner := c.Chunks.Owner(i)
		seen[owner] = true
		cut := false
		if i == from || i == to-1 { // chunks in between cannot reach a bound
			ch := c.Chunks.At(i)
			cut = ch.Min.Compare(z.Min) < 0 || ch.Max.Compare(z.Max) > 0
		}
		if cut {
			out.Straddling++
		}
		if slices.Contains(carry, owner) {
			continue
		}
		out.Outside++
		if !cut {
			out.Misplaced = append(out.Misplaced, i)
		}
	}
	out.Shards = natural.Sorted(maps.Keys(seen))
	return out, true
}

// MisplacedByShard counts, by the shard that has them, the chunks wholly in a zone range that are on a shard without
// the zone: as many as RangeChunks lists in Misplaced. It reads sums that are kept with the chunks, so that it
// may be asked often. ok as of RangeChunks.
func (t *Table) MisplacedByShard(z ZoneRange) (out map[string]int, ok bool) {
	c := t.Collection(z.NS)
	if c == nil || c.Chunks == nil || z.Min.IsZero() {
		return nil, false
	}
	from, to := c.Chunks.Overlap(shardkey.Range{Min: z.Min, Max: z.Max})
	if from < to && c.Chunks.At(from).Min.Compare(z.Min) < 0 {
		from++
	}
	if from < to && c.Chunks.At(to-1).Max.Compare(z.Max) > 0 {
		to--
	}
	out = map[string]int{}
	carry := t.CarriersOf(z.Zone)
	var sum Tally
	c.Chunks.Tally(&sum, from, to)
	for i, n := range sum.ByShard {
		if name := c.Chunks.ShardNames()[i]; n > 0 && !slices.Contains(carry, name) {
			out[name] = n
		}
	}
	return out, true
}
