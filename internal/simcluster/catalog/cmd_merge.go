package catalog

import (
	"context"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// runMergeChunks joins neighbouring chunks of one shard. It waits for a migration of
// the collection that leaves the same shard.
func (c *Cluster) runMergeChunks(ctx context.Context, req *engine.Request, ns string) (bson.D, error) {
	lo, hi, err := mergeBounds(req)
	if err != nil {
		return nil, err
	}
	return bson.D{}, c.changeChunks(ctx, "", "Failed to commit chunk merge", func() (Point, func() (func(), error), error) {
		owner, err := c.mergeOwner(ns, lo, hi)
		at := Point{Command: "mergeChunks", Step: Committing, NS: ns, Min: lo, Max: hi, From: owner}
		return at, func() (func(), error) { return c.merge(ns, lo, hi) }, err
	})
}

// mergeBounds reads the ends of the range (s/commands/cluster_merge_chunks_cmd.cpp).
func mergeBounds(req *engine.Request) (lo, hi bson.Raw, err error) {
	a, _ := req.Lookup("bounds").ArrayOK()
	ends, _ := a.Values()
	switch len(ends) {
	case 0:
		return nil, nil, status.Plain("no bounds were specified")
	case 2:
	default:
		return nil, nil, status.Plain("only a min and max bound may be specified")
	}
	lo, ok := ends[0].DocumentOK()
	if !ok || len(lo) <= 5 {
		return nil, nil, status.Plain("no min key specified")
	}
	if hi, ok = ends[1].DocumentOK(); !ok || len(hi) <= 5 {
		return nil, nil, status.Plain("no max key specified")
	}
	return lo, hi, nil
}

// mergeOwner is the shard that gets the command: the owner of the lower bound.
func (c *Cluster) mergeOwner(ns string, lo, hi bson.Raw) (string, error) {
	r := c.Routing(ns)
	if r == nil {
		return "", c.notSharded(ns)
	}
	l, ok1 := r.pattern.normalize(lo)
	_, ok2 := r.pattern.normalize(hi)
	if c.since(8) && compareKeys(lo, hi) >= 0 {
		return "", status.Errorf(status.UnknownError, "the specified max bound must be greater than the specified min bound")
	}
	if !ok1 || !ok2 {
		return "", status.Plain("shard key bounds [%s,%s) are not valid for shard key pattern %s", text(lo), text(hi), text(r.Key))
	}
	return r.Owner(l), nil
}

// merge merges the chunks in [lo, hi). The first document is kept, with its jumbo flag,
// a new minor version and a history that starts now. A single chunk is left unchanged
// (db/s/config/sharding_catalog_manager_chunk_operations.cpp, commitChunksMerge). log
// writes the changelog entry. The caller holds Mu for both.
func (c *Cluster) merge(ns string, lo, hi bson.Raw) (log func(), err error) {
	r := c.Routing(ns)
	lo, _ = r.pattern.normalize(lo)
	hi, _ = r.pattern.normalize(hi)
	const failed = "Failed to commit chunk merge"
	if compareKeys(lo, hi) >= 0 {
		return nil, status.Context(failed, status.Errorf(status.FailedToParse, "min: %s should be less than max: %s", text(lo), text(hi)))
	}
	first := r.indexOf(lo)
	owner := r.chunks[first].Shard
	last := first
	for last+1 < len(r.chunks) && r.chunks[last].Shard == owner && compareKeys(r.chunks[last].Max, hi) < 0 {
		last++
	}
	if compareKeys(r.chunks[first].Min, lo) != 0 || compareKeys(r.chunks[last].Max, hi) != 0 || r.chunks[last].Shard != owner {
		if c.since(8) {
			return nil, r.notOwned(owner, lo, hi)
		}
		return nil, status.Context(failed, status.Errorf(status.IllegalOperation, "could not merge chunks, shard %s does not "+
			"contain a sequence of chunks that exactly fills the range %s", owner, rangeText(lo, hi)))
	}
	if first == last {
		return func() {}, nil
	}
	before := r.version
	parts := slices.Clone(r.chunks[first : last+1])
	merged := make(bson.A, len(parts))
	for i, ch := range parts {
		merged[i] = r.document(ch)
	}
	for _, ch := range parts[1:] {
		c.config.delete("chunks", ch.record)
	}
	keep := parts[0]
	keep.Max, keep.Version = parts[len(parts)-1].Max, r.bumpMinor()
	keep.History = []Placement{{ValidAfter: c.mergedSince(parts), Shard: owner}}
	c.saveChunk(r, keep)
	r.chunks = slices.Delete(r.chunks, first+1, last+1)
	r.countChunk(owner, 1-len(parts))
	now := *keep // the chunk may change before the entry is written
	return func() {
		if c.since(6) {
			c.logMerged("merge", r, owner, &now, before, len(parts))
			return
		}
		c.logChange(configServer, "merge", r.NS, value.D("merged", merged, r.versionFields("prevShardVersion", before),
			r.versionFields("mergedVersion", now.Version), "owningShard", owner))
	}, nil
}

// runMergeAllChunksOnShard merges all mergeable chunks of a shard (7.0). Assumed:
// mongos adds no fields to the reply; 7.0 logs merge, 8.0 autoMerge.
func (c *Cluster) runMergeAllChunksOnShard(ctx context.Context, req *engine.Request, ns string) (bson.D, error) {
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
	return bson.D{}, c.changeChunks(ctx, "", "", func() (at Point, _ func() (func(), error), err error) {
		r := c.Routing(ns)
		switch {
		case r == nil:
			return at, nil, c.notSharded(ns)
		case c.shard(shard) == nil:
			return at, nil, noShard(shard)
		}
		merge := func() (func(), error) {
			c.mergeAll(r, shard, int(limit))
			return func() {}, nil
		}
		return Point{NS: ns, From: shard}, merge, nil
	})
}

// AutoMerge runs one round of the AutoMerger: on every shard it merges the mergeable
// chunks of all collections that allow it. It returns how many chunks disappeared. The
// caller holds Mu for writing.
func (c *Cluster) AutoMerge() (gone int) {
	if !c.since(7) || !c.set.AutoMerge {
		return 0
	}
	for _, ns := range c.Namespaces() {
		r := c.Routing(ns)
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
		merged := c.placeChunk(r, parts[0].Min, parts[len(parts)-1].Max, shard, r.bumpMinor(), c.mergedSince(parts))
		r.chunks = slices.Replace(r.chunks, first, last, merged)
		r.countChunk(shard, 1-len(parts))
		what := "merge"
		if c.since(8) {
			what = "autoMerge"
		}
		c.logMerged(what, r, shard, merged, before, len(parts))
	}
	return gone
}
