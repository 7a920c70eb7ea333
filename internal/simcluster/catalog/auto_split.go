package catalog

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// NoteWrite counts bytes written to the chunk that contains key. After every fifth of
// the chunk size it splits the chunk if it is too big, as shards did up to 6.0
// (db/s/chunk_splitter.cpp). The caller holds Mu for writing.
func (c *Cluster) NoteWrite(ns string, key bson.Raw, bytes int) {
	r := c.routes[ns]
	if r == nil || !c.set.Splitting() {
		return
	}
	ch := r.chunks[r.indexOf(key)]
	r.written[ch.ID] += int64(bytes)
	if r.written[ch.ID] < c.chunkSizeOf(r)/5 || c.moves.donating(ns, ch.Shard) != nil {
		return
	}
	delete(r.written, ch.ID)
	c.autoSplit(r, ch)
}

// autoSplit splits a chunk that is bigger than the chunk size. A single split point
// means that the chunk is between half full and full, so it is left alone. The first
// and the last chunk of a ranged key are split at their outermost document instead,
// because monotonic keys would otherwise leave half empty chunks behind.
func (c *Cluster) autoSplit(r *Routing, ch *Chunk) {
	points, err := c.SplitVector(r.NS, ch.Min, ch.Max, c.chunkSizeOf(r))
	if err != nil || len(points) <= 1 {
		return
	}
	if r.pattern.ordered() {
		switch {
		case compareKeys(ch.Min, r.pattern.min()) == 0:
			if key := c.outermost(r, ch, true); key != nil && compareKeys(key, points[1]) < 0 {
				points[0] = key
			}
		case compareKeys(ch.Max, r.pattern.max()) == 0:
			if key := c.outermost(r, ch, false); key != nil && compareKeys(key, points[len(points)-2]) > 0 {
				points[len(points)-1] = key
			}
		}
	}
	if compareKeys(points[0], ch.Min) == 0 {
		points = points[1:]
	}
	if len(points) > 0 {
		_ = c.split(r, ch, points)
	}
}

// outermost is the lowest or highest key among the chunk's documents.
func (c *Cluster) outermost(r *Routing, ch *Chunk, lowest bool) bson.Raw {
	coll := c.data(ch.Shard, r.NS)
	if coll == nil {
		return nil
	}
	var last bson.Raw
	rangeByKey(coll, r, ch.Min, ch.Max, func(_ engine.RecordID, doc bson.Raw) bool {
		last = doc
		return !lowest
	})
	if last == nil {
		return nil
	}
	key, err := r.KeyOf(last)
	if err != nil {
		return nil
	}
	return key
}

// SplitOrMark splits a chunk that was too big to move, or marks it jumbo when it cannot
// be split (db/s/balancer/balancer.cpp, _splitOrMarkJumbo). The caller holds Mu for
// writing.
func (c *Cluster) SplitOrMark(ns string, lo bson.Raw) error {
	r := c.routes[ns]
	if r == nil {
		return nil
	}
	ch := r.chunks[r.indexOf(lo)]
	points, err := c.SplitVector(ns, ch.Min, ch.Max, c.chunkSizeOf(r))
	if err != nil {
		return err
	}
	if len(points) > 0 && compareKeys(points[0], ch.Min) == 0 {
		points = points[1:]
	}
	if len(points) == 0 {
		c.MarkJumbo(ns, lo)
		return nil
	}
	return c.split(r, ch, points)
}
