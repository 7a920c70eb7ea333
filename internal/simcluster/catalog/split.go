package catalog

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// changeChunks changes chunks of one shard as soon as no migration of the collection leaves it. find says with Mu held
// where the change is and how to commit it, which returns a function that writes the log entry. A hook sees the change
// if the point has a command. waiting and committing are the contexts of errors of the wait and of the hook.
func (c *Cluster) changeChunks(ctx context.Context, waiting, committing string,
	find func() (at Point, commit func() (log func(), err error), err error)) error {
	for asked := false; ; {
		c.Mu.Lock()
		at, commit, err := find()
		if err != nil {
			c.Mu.Unlock()
			return err
		}
		if m := c.moves.donating(at.NS, at.From); m != nil {
			c.Mu.Unlock()
			if err := await(ctx, m.free); err != nil {
				return status.Context(waiting, err)
			}
			continue
		}
		hooked := at.Command != "" && c.hookArmed()
		if hooked && !asked {
			asked = true
			c.Mu.Unlock()
			if err := c.atStep(ctx, at); err != nil {
				return status.Context(committing, err)
			}
			continue
		}
		log, err := commit()
		c.Mu.Unlock()
		if err == nil && hooked {
			err = c.atStep(ctx, Point{Command: at.Command, Step: Committed, NS: at.NS})
		}
		if err != nil {
			return err
		}
		c.Mu.Lock()
		log()
		c.Mu.Unlock()
		return nil
	}
}

func (c *Cluster) notSharded(ns string) error {
	if c.since(8) {
		return status.Errorf(status.NamespaceNotSharded, "Expected collection %s to be sharded", ns)
	}
	return status.Errorf(status.NamespaceNotSharded, "Collection %s is not sharded.", ns)
}

// split replaces a chunk by len(points)+1 chunks. Every part gets a new minor version
// and keeps the history and the jumbo flag; the first keeps the id. The log entry has
// the collection version before the split, not the chunk's
// (db/s/config/sharding_catalog_manager_chunk_operations.cpp, commitChunkSplit).
func (c *Cluster) split(r *Routing, ch *Chunk, points []bson.Raw) error {
	log, err := c.commitSplit(r, ch, points)
	if err != nil {
		return err
	}
	log()
	return nil
}

// commitSplit is split without log entries, which the returned function writes. The
// caller holds Mu for both.
func (c *Cluster) commitSplit(r *Routing, ch *Chunk, points []bson.Raw) (log func(), err error) {
	last := ch.Min
	for _, p := range points {
		if compareKeys(p, last) <= 0 || compareKeys(p, ch.Max) >= 0 {
			return nil, status.Errorf(status.InvalidOptions, "Split key %s not contained within chunk %s", text(p), rangeText(ch.Min, ch.Max))
		}
		last = p
	}
	at := slices.Index(r.chunks, ch)
	before := r.versioned(ch.Min, ch.Max, r.version)
	ends := append(slices.Clone(points), ch.Max)
	parts := make([]*Chunk, len(ends))
	lo := ch.Min
	for i, hi := range ends {
		part := &Chunk{
			ID: ch.ID, Min: lo, Max: hi, Shard: ch.Shard, Version: r.bumpMinor(),
			History: slices.Clone(ch.History), Jumbo: ch.Jumbo && !c.since(7), record: ch.record,
			flagged: c.since(7),
		}
		if i > 0 {
			part.ID = c.objectID(configServer)
		}
		parts[i], lo = part, hi
	}
	c.saveChunk(r, parts[0])
	for _, part := range parts[1:] {
		c.addChunk(r, part)
	}
	r.chunks = slices.Replace(r.chunks, at, at+1, parts...)
	r.countChunk(ch.Shard, len(parts)-1)
	made := make([]bson.D, len(parts))
	for i, part := range parts {
		made[i] = r.versioned(part.Min, part.Max, part.Version)
	}
	return func() { c.logSplit(r.NS, ch.Shard, before, made) }, nil
}

func (c *Cluster) logSplit(ns, owner string, before bson.D, parts []bson.D) {
	if len(parts) == 2 {
		c.logChange(configServer, "split", ns, value.D("before", before, "left", parts[0], "right", parts[1],
			"owningShard", owner))
		return
	}
	for i, part := range parts {
		c.logChange(configServer, "multi-split", ns, value.D("before", before, "number", int32(i+1),
			"of", int32(len(parts)), "chunk", part, "owningShard", owner))
	}
}

// SplitChunk splits the chunk that begins at lo at each of the points. It does nothing
// while the chunk's shard donates another chunk; a later round splits it. The caller
// holds Mu for writing.
func (c *Cluster) SplitChunk(ns string, lo bson.Raw, points []bson.Raw) error {
	r := c.Routing(ns)
	if r == nil {
		return c.notSharded(ns)
	}
	ch := r.chunks[r.indexOf(lo)]
	if c.moves.donating(ns, ch.Shard) != nil {
		return nil
	}
	return c.split(r, ch, points)
}

// NoteWrite counts bytes written to the chunk that contains key. After every fifth of
// the chunk size it splits the chunk if it is too big, as shards did up to 6.0
// (db/s/chunk_splitter.cpp). The caller holds Mu for writing.
func (c *Cluster) NoteWrite(ns string, key bson.Raw, bytes int) {
	r := c.Routing(ns)
	if r == nil || !c.set.AutoSplit {
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
	_ = c.splitAt(r, ch, points)
}

// outermost is the lowest or highest key among the chunk's documents; nil if it has none.
func (c *Cluster) outermost(r *Routing, ch *Chunk, lowest bool) bson.Raw {
	var last bson.Raw
	for _, last = range c.data(ch.Shard, r.NS).Range(r.Key, ch.Min, ch.Max) {
		if lowest {
			break
		}
	}
	if last == nil {
		return nil
	}
	key, err := r.KeyOf(last)
	if err != nil {
		return nil
	}
	return key
}

// splitAt splits a chunk at points, of which the first may be its lower bound.
func (c *Cluster) splitAt(r *Routing, ch *Chunk, points []bson.Raw) error {
	if compareKeys(points[0], ch.Min) == 0 {
		points = points[1:]
	}
	if len(points) == 0 {
		return nil
	}
	return c.split(r, ch, points)
}

// SplitOrMark splits a chunk that was too big to move, or marks it jumbo when it cannot
// be split (db/s/balancer/balancer.cpp, _splitOrMarkJumbo). The caller holds Mu for
// writing.
func (c *Cluster) SplitOrMark(ns string, lo bson.Raw) error {
	r := c.Routing(ns)
	if r == nil {
		return nil
	}
	ch := r.chunks[r.indexOf(lo)]
	points, err := c.SplitVector(ns, ch.Min, ch.Max, c.chunkSizeOf(r))
	if err != nil {
		return err
	}
	if len(points) == 0 || len(points) == 1 && compareKeys(points[0], ch.Min) == 0 {
		c.MarkJumbo(ns, lo)
		return nil
	}
	return c.splitAt(r, ch, points)
}

// SplitVector returns split points for [lo, hi) so that no part is bigger than half of
// maxBytes, based on the average document size of the shard's collection
// (db/s/split_vector.cpp). It returns none when the collection is smaller than
// maxBytes. The caller holds Mu.
func (c *Cluster) SplitVector(ns string, lo, hi bson.Raw, maxBytes int64) ([]bson.Raw, error) {
	r := c.Routing(ns)
	if r == nil {
		return nil, c.notSharded(ns)
	}
	coll := c.data(r.Owner(lo), ns)
	if coll == nil || coll.Len() == 0 || coll.Bytes() < maxBytes {
		return nil, nil
	}
	average := max(coll.Bytes()/int64(coll.Len()), 1)
	return splitPoints(coll, r, lo, hi, int(maxBytes/(2*average)), 0)
}

// median is the split point of a split without a key: the middle key of the chunk's
// documents, or nil when they all have the same key. On a shard without documents of
// the collection it is an error, as in the server.
func (c *Cluster) median(r *Routing, ch *Chunk) (bson.Raw, error) {
	coll := c.data(ch.Shard, r.NS)
	switch {
	case coll == nil:
		return nil, status.Errorf(status.NamespaceNotFound, "ns not found")
	case coll.Len() == 0:
		return nil, status.Errorf(status.InvalidOptions, "need to specify the desired max chunk size")
	}
	points, err := splitPoints(coll, r, ch.Min, ch.Max, int(coll.CountRange(r.Key, ch.Min, ch.Max)/2), 1)
	if err != nil || len(points) == 0 {
		return nil, err
	}
	return points[0], nil
}

// splitPoints walks the shard key index and takes every (every+1)-th key that differs
// from the previous point. The first key is never a point. limit 0 means no limit.
func splitPoints(coll *engine.Coll, r *Routing, lo, hi bson.Raw, every, limit int) ([]bson.Raw, error) {
	var points []bson.Raw
	var last bson.Raw
	count := 0
	for _, doc := range coll.Range(r.Key, lo, hi) {
		count++
		if last != nil && count <= every {
			continue
		}
		key, err := r.KeyOf(doc)
		if err != nil {
			return points, err
		}
		if last == nil {
			last = key
			if count <= every {
				continue
			}
		}
		if compareKeys(key, last) == 0 {
			continue
		}
		points, last, count = append(points, key), key, 0
		if limit > 0 && len(points) >= limit {
			break
		}
	}
	if last == nil {
		return nil, status.Errorf(status.OperationFailed, "can't open a cursor to scan the range (desired range is possibly empty)")
	}
	return points, nil
}
