package catalog

import (
	"context"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// runMergeAllChunksOnShard merges all mergeable chunks of a shard (7.0). Assumed:
// mongos adds no fields to the reply; 7.0 logs merge, 8.0 autoMerge.
func (c *Cluster) runMergeAllChunksOnShard(ctx context.Context, req *engine.Request) (bson.D, error) {
	ns, err := namespace(req)
	if err != nil {
		return nil, err
	}
	shard, ok := req.Lookup("shard").StringValueOK()
	if !ok {
		return nil, missingField("mergeAllChunksOnShard", "shard")
	}
	limit := int64(math.MaxInt32)
	if n, ok := asInt64(req.Lookup("maxNumberOfChunksToMerge")); ok {
		if n < 2 {
			return nil, status.Errorf(51024, "BSON field 'maxNumberOfChunksToMerge' value must be >= 2, actual value '%d'", n)
		}
		limit = n
	}
	for {
		c.Mu.Lock()
		r := c.routes[ns]
		if r == nil {
			c.Mu.Unlock()
			return nil, c.notSharded(ns)
		}
		if c.shard(shard) == nil {
			c.Mu.Unlock()
			return nil, noShard(shard)
		}
		if m := c.moves.donating(ns, shard); m != nil {
			c.Mu.Unlock()
			if err := await(ctx, m.done); err != nil {
				return nil, err
			}
			continue
		}
		c.mergeAll(r, shard, int(limit))
		c.Mu.Unlock()
		return bson.D{}, nil
	}
}

// AutoMerge runs one round of the AutoMerger: on every shard it merges the mergeable
// chunks of all collections that allow it. It returns how many chunks disappeared. The
// caller holds Mu for writing.
func (c *Cluster) AutoMerge() (gone int) {
	if !c.features.autoMerge || !c.set.AutoMerge {
		return 0
	}
	for _, ns := range c.Namespaces() {
		r := c.routes[ns]
		if r.newer.noAutoMerge || r.newer.defragment != notDefragmenting || !r.Balanced() {
			continue
		}
		for _, shard := range r.ShardsOwning() {
			if c.moves.donating(ns, shard) == nil {
				gone += c.mergeAll(r, shard, math.MaxInt)
			}
		}
	}
	return gone
}

// mergeAll merges runs of neighbours on a shard that are not jumbo and have been there
// for longer than snapshot reads may look back. Each run becomes a new document with a
// new id and the next minor version
// (db/s/config/sharding_catalog_manager_chunk_operations.cpp,
// commitMergeAllChunksOnShard). It returns how many chunks disappeared.
func (c *Cluster) mergeAll(r *Routing, shard string, limit int) (gone int) {
	now := c.Timestamp()
	fit := func(ch *Chunk) bool {
		return ch.Shard == shard && !ch.Jumbo && ch.History[0].ValidAfter.T+historyWindow < now.T
	}
	for first := 0; first < len(r.chunks) && limit >= 2; first++ {
		last := first
		for last < len(r.chunks) && fit(r.chunks[last]) && last-first < limit {
			last++
		}
		if last-first < 2 {
			continue
		}
		parts := slices.Clone(r.chunks[first:last])
		limit, gone = limit-len(parts), gone+len(parts)-1
		for _, ch := range parts {
			c.config.delete("chunks", ch.record)
		}
		before := r.version
		merged := &Chunk{
			ID: c.objectID(configServer), Min: parts[0].Min, Max: parts[len(parts)-1].Max, Shard: shard, Version: r.bumpMinor(),
			History: []Placement{{ValidAfter: c.mergedSince(parts), Shard: shard}},
		}
		c.addChunk(r, merged)
		r.chunks = slices.Replace(r.chunks, first, last, merged)
		r.countChunk(shard, 1-len(parts))
		what := "merge"
		if c.features.autoMergeLog {
			what = "autoMerge"
		}
		c.logMerged(what, r, shard, merged, before, len(parts))
	}
	return gone
}
