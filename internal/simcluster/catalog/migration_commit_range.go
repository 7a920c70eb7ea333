package catalog

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// chunkAround is the chunk that contains the whole range, or nil.
func (r *Routing) chunkAround(lo, hi bson.Raw) *Chunk {
	ch := r.chunks[r.indexOf(lo)]
	if compareKeys(ch.Min, lo) > 0 || compareKeys(hi, ch.Max) > 0 || compareKeys(lo, hi) >= 0 {
		return nil
	}
	return ch
}

// commitRange moves the part [lo, hi) of a chunk to another shard. The part keeps the
// chunk's id and gets the next major version. The remainders on its left and right
// become new chunks with the following minor versions, and the version after those goes
// to the donor's chunk with the lowest bounds
// (db/s/config/sharding_catalog_manager_chunk_operations.cpp, commitChunkMigration).
func (c *Cluster) commitRange(r *Routing, ch *Chunk, lo, hi bson.Raw, to string) {
	from := ch.Shard
	before, after := r.remainders(ch, lo, hi)
	if before == nil && after == nil {
		c.commitMove(r, ch, to)
		c.notePlacement(r)
		return
	}
	history := slices.Clone(ch.History)
	at := r.indexOf(ch.Min)
	ch.Min, ch.Max = lo, hi
	c.relocate(r, ch, to)
	parts := []*Chunk{ch}
	for _, rest := range []*Chunk{before, after} {
		if rest == nil {
			continue
		}
		rest.ID, rest.Version, rest.History = c.objectID(configServer), r.bumpMinor(), slices.Clone(history)
		c.addChunk(r, rest)
		r.countChunk(from, 1)
		parts = append(parts, rest)
	}
	slices.SortFunc(parts, func(a, b *Chunk) int { return compareKeys(a.Min, b.Min) })
	r.chunks = slices.Replace(r.chunks, at, at+1, parts...)
	for _, control := range r.chunks {
		if control.Shard == from && control != before && control != after {
			control.Version = r.bumpMinor()
			c.saveChunk(r, control)
			break
		}
	}
	c.notePlacement(r)
}

// remainders are the parts of ch before and after [lo, hi), nil where there is none.
func (r *Routing) remainders(ch *Chunk, lo, hi bson.Raw) (before, after *Chunk) {
	if !bytes.Equal(ch.Min, lo) && compareKeys(ch.Min, lo) < 0 {
		before = &Chunk{Min: ch.Min, Max: lo, Shard: ch.Shard, Jumbo: ch.Jumbo}
	}
	if !bytes.Equal(ch.Max, hi) && compareKeys(hi, ch.Max) < 0 {
		after = &Chunk{Min: hi, Max: ch.Max, Shard: ch.Shard, Jumbo: ch.Jumbo}
	}
	return before, after
}

// relocate writes the chunk's new owner and next major version, and removes history
// entries that are too old for snapshot reads.
func (c *Cluster) relocate(r *Routing, ch *Chunk, to string) {
	from, at := ch.Shard, c.Timestamp()
	kept := slices.Clone(ch.History)
	// Keep the newest expired entry: it is the chunk's owner at the beginning of the
	// window.
	for n := len(kept); n > 1 && kept[n-1].ValidAfter.T+historyWindow < at.T; n = len(kept) {
		kept = kept[:n-1]
	}
	ch.History = slices.Insert(kept, 0, Placement{ValidAfter: at, Shard: to})
	ch.Shard, ch.Version = to, r.bumpMajor()
	r.countChunk(from, -1)
	r.countChunk(to, 1)
	c.saveChunk(r, ch)
}
