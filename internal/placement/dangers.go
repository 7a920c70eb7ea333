package placement

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Danger is a shard to which a chunk cannot be moved: rows there have ids that
// rows of the chunk have too, and such a migration fails (observed on MongoDB
// 5.0.7: OperationFailed without a word of duplicates).
type Danger struct {
	Shard string
	IDs   []string // as people write them, in order
}

// Dangers lists the moves of chunk i that would bring two of the known shared
// ids together, by shard. What nobody has found is not in it: none means none
// known.
func Dangers(c *topology.Collection, i int, found []SharedID) []Danger {
	chunk := c.Chunks.At(i)
	at := shardkey.Range{Min: chunk.Min, Max: chunk.Max}
	ids := map[string][]string{}
	for _, s := range found {
		if s.NS != c.NS || !slices.ContainsFunc(s.Rows, func(r SharedRow) bool { return inChunk(c.Key, at, s, r) }) {
			continue
		}
		for _, shard := range s.Shards() {
			if shard != chunk.Shard {
				ids[shard] = append(ids[shard], s.Text())
			}
		}
	}
	var out []Danger
	for _, shard := range natural.Sorted(maps.Keys(ids)) {
		slices.Sort(ids[shard])
		out = append(out, Danger{Shard: shard, IDs: ids[shard]})
	}
	return out
}

// inChunk tells whether a row's key, as far as its project and id give it, is
// in the range. A key with other fields cannot be told, and then the row counts:
// a warning too many is the safer error.
func inChunk(p shardkey.Pattern, at shardkey.Range, s SharedID, r SharedRow) bool {
	values := make([]bson.RawValue, 0, p.Len())
	for i, f := range p.Fields() {
		switch {
		case f.Name == "_id":
			values = append(values, s.Stored.Value(s.ID))
		case i == 0:
			values = append(values, r.Stored.Value(r.Project))
		}
	}
	if len(values) < p.Len() {
		rows, err := p.PrefixRange(values[:1]...)
		return err != nil || rows.Overlaps(at)
	}
	key, err := p.KeyOf(values...)
	return err != nil || at.Contains(key)
}
