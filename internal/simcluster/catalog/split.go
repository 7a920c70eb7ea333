package catalog

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// Split splits a chunk at each of the points, which must be full shard keys in
// ascending order inside one chunk. It locks Mu itself and waits until ctx ends for a
// migration of the collection with the same donor.
func (c *Cluster) Split(ctx context.Context, ns string, points ...bson.Raw) error {
	for len(points) > 0 {
		c.Mu.Lock()
		r := c.routes[ns]
		if r == nil {
			c.Mu.Unlock()
			return c.notSharded(ns)
		}
		ch := r.chunks[r.indexOf(points[0])]
		m := c.moves.donating(ns, ch.Shard)
		if m == nil {
			err := c.split(r, ch, points)
			c.Mu.Unlock()
			return err
		}
		c.Mu.Unlock()
		if err := await(ctx, m.done); err != nil {
			return withContext("split failed", err)
		}
	}
	return nil
}

func (c *Cluster) notSharded(ns string) error {
	if c.features.observed8 {
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
			History: slices.Clone(ch.History), Jumbo: ch.Jumbo && !c.features.splitUnflags, record: ch.record,
			flagged: c.features.splitUnflags,
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
		c.logChange(configServer, "split", ns, bson.D{
			{Key: "before", Value: before}, {Key: "left", Value: parts[0]}, {Key: "right", Value: parts[1]},
			{Key: "owningShard", Value: owner},
		})
		return
	}
	for i, part := range parts {
		c.logChange(configServer, "multi-split", ns, bson.D{
			{Key: "before", Value: before}, {Key: "number", Value: int32(i + 1)}, {Key: "of", Value: int32(len(parts))},
			{Key: "chunk", Value: part}, {Key: "owningShard", Value: owner},
		})
	}
}

// SplitChunk splits the chunk that begins at lo at each of the points. It does nothing
// while the chunk's shard donates another chunk; a later round splits it. The caller
// holds Mu for writing.
func (c *Cluster) SplitChunk(ns string, lo bson.Raw, points []bson.Raw) error {
	r := c.routes[ns]
	if r == nil {
		return c.notSharded(ns)
	}
	ch := r.chunks[r.indexOf(lo)]
	if c.moves.donating(ns, ch.Shard) != nil {
		return nil
	}
	return c.split(r, ch, points)
}
