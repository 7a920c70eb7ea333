package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
)

// emptyEverywhere reports whether a collection has no document on any shard.
func (c *Cluster) emptyEverywhere(r *Routing) bool {
	for shard := range c.Shards {
		if coll := c.data(shard, r.NS); coll != nil && coll.Len() > 0 {
			return false
		}
	}
	return true
}

// chunkNamed is the chunk that contains the shard key in a find query, or, without a query, the one with exactly these
// bounds. codes are those of the errors: no shard key in the query, bounds that are no shard keys, no such chunk.
func (r *Routing) chunkNamed(find, lo, hi bson.Raw, codes [3]int32) (*Chunk, error) {
	if find != nil {
		f, err := query.Parse(find, nil)
		if err == nil {
			if key := r.KeyFromFilter(f); key != nil {
				return r.chunks[r.indexOf(key)], nil
			}
		} else if codes[0] == 0 {
			return nil, err
		}
		return nil, plainOr(codes[0], "no shard key found in chunk query %s", text(find))
	}
	l, ok1 := r.pattern.normalize(lo)
	h, ok2 := r.pattern.normalize(hi)
	if !ok1 || !ok2 {
		return nil, plainOr(codes[1], "shard key bounds [%s,%s) are not valid for shard key pattern %s", text(lo), text(hi), text(r.Key))
	}
	ch := r.chunkExactly(l, h)
	if ch == nil {
		return nil, plainOr(codes[2], "no chunk found with the shard key bounds %s", rangeText(l, h))
	}
	return ch, nil
}

// plainOr is an error with a code, or one without if it is 0.
func plainOr(code int32, format string, args ...any) error {
	if code == 0 {
		return status.Plain(format, args...)
	}
	return status.Errorf(code, format, args...)
}

// runSplit splits a chunk at a key or at the median of its documents
// (s/commands/cluster_split_cmd.cpp). It waits for a migration of the collection that
// has the same donor.
func (c *Cluster) runSplit(ctx context.Context, req *engine.Request, ns string) (bson.D, error) {
	const failed = "split failed"
	return bson.D{}, c.changeChunks(ctx, failed, failed, func() (Point, func() (func(), error), error) {
		r, ch, middle, err := c.splitTarget(req, ns)
		if err != nil {
			return Point{}, nil, err
		}
		at := Point{Command: "split", Step: Committing, NS: ns, Min: ch.Min, Max: ch.Max, From: ch.Shard}
		return at, func() (func(), error) { return c.splitOnce(r, ch, middle) }, nil
	})
}

// splitTarget returns the chunk to split, and the split key unless the median is
// requested. The caller holds Mu.
func (c *Cluster) splitTarget(req *engine.Request, ns string) (r *Routing, ch *Chunk, middle bson.Raw, err error) {
	if r = c.Routing(ns); r == nil {
		return nil, nil, nil, c.notSharded(ns)
	}
	find, middle := document(req, "find"), document(req, "middle")
	lo, hi, bound, err := bounds(req)
	switch {
	case err != nil:
	case find != nil && bound:
		err = status.Plain("cannot specify bounds and find at the same time")
	case find == nil && !bound && middle == nil:
		err = status.Plain("need to specify find/bounds or middle")
	case find != nil && middle != nil:
		err = status.Plain("cannot specify find and middle together")
	case bound && middle != nil:
		err = status.Plain("cannot specify bounds and middle together")
	case find != nil || bound:
		ch, err = r.chunkNamed(find, lo, hi, [3]int32{})
	default:
		ch, middle, err = r.splitKey(middle)
	}
	return r, ch, middle, err
}

// splitKey checks a key given as middle.
func (r *Routing) splitKey(middle bson.Raw) (*Chunk, bson.Raw, error) {
	key, ok := r.pattern.normalize(middle)
	if !ok {
		return nil, nil, status.Plain("new split key %s is not valid for shard key pattern %s", text(middle), text(r.Key))
	}
	ch := r.chunks[r.indexOf(key)]
	if compareKeys(ch.Min, key) == 0 || compareKeys(ch.Max, key) == 0 {
		return nil, nil, status.Plain("new split key %s is a boundary key of existing chunk [%s,%s)", text(key), text(ch.Min), text(ch.Max))
	}
	if err := r.checkSplitHash(ch, key); err != nil {
		return nil, nil, err
	}
	return ch, key, nil
}

// splitOnce splits the chunk and returns a function that writes the log entry. The
// caller holds Mu.
func (c *Cluster) splitOnce(r *Routing, ch *Chunk, middle bson.Raw) (log func(), err error) {
	if middle == nil {
		if c.since(8) && c.emptyEverywhere(r) {
			return nil, status.Errorf(status.InvalidOptions, "cannot use split with find or bounds option on an empty collection")
		}
		key, err := c.median(r, ch)
		if err != nil {
			return nil, err
		}
		if key == nil {
			return nil, status.Errorf(status.CannotSplit, "Unable to find median in chunk because chunk is indivisible.")
		}
		if compareKeys(key, ch.Min) == 0 {
			return nil, status.Context("split failed", status.Errorf(status.CannotSplit, "not splitting chunk %s, split point %s is "+
				"exactly on chunk bounds", rangeText(ch.Min, ch.Max), text(key)))
		}
		middle = key
	}
	return c.commitSplit(r, ch, []bson.Raw{middle})
}
