package catalog

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// SplitVector returns split points for [lo, hi) so that no part is bigger than half of
// maxBytes, based on the average document size of the shard's collection
// (db/s/split_vector.cpp). It returns none when the collection is smaller than
// maxBytes. The caller holds Mu.
func (c *Cluster) SplitVector(ns string, lo, hi bson.Raw, maxBytes int64) ([]bson.Raw, error) {
	r := c.routes[ns]
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
	n := 0
	rangeByKey(coll, r, ch.Min, ch.Max, func(engine.RecordID, bson.Raw) bool { n++; return true })
	points, err := splitPoints(coll, r, ch.Min, ch.Max, n/2, 1)
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
	var failed error
	rangeByKey(coll, r, lo, hi, func(_ engine.RecordID, doc bson.Raw) bool {
		count++
		if last != nil && count <= every {
			return true
		}
		key, err := r.KeyOf(doc)
		if err != nil {
			failed = err
			return false
		}
		if last == nil {
			last = key
			if count <= every {
				return true
			}
		}
		if compareKeys(key, last) == 0 {
			return true
		}
		points, last, count = append(points, key), key, 0
		return limit == 0 || len(points) < limit
	})
	if failed == nil && last == nil {
		return nil, status.Errorf(status.OperationFailed, "can't open a cursor to scan the range (desired range is possibly empty)")
	}
	return points, failed
}
