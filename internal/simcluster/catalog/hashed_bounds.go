package catalog

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// checkHashed rejects range bounds of a sharded namespace that have anything but a hash
// in the hashed field.
func (c *Cluster) checkHashed(ns string, lo, hi bson.Raw) error {
	r := c.routes[ns]
	if r == nil {
		return nil
	}
	for _, f := range r.pattern.fields {
		if f.hashed && !(hashValue(lo.Lookup(f.name)) && hashValue(hi.Lookup(f.name))) {
			return status.Errorf(status.InvalidOptions, "there exists a field in the range %s -->> %s not of type NumberLong, "+
				"MinKey, or MaxKey which corresponds to a hashed field in the shard key pattern %s", text(lo), text(hi), text(r.Key))
		}
	}
	return nil
}

// hashValue reports whether a bound may have this value in a hashed field.
func hashValue(v bson.RawValue) bool {
	return v.Type == bson.TypeInt64 || v.Type == bson.TypeMinKey || v.Type == bson.TypeMaxKey
}

// checkSplitHash rejects a split point that has anything but a hash in the hashed field
// (db/s/split_chunk.cpp).
func (r *Routing) checkSplitHash(ch *Chunk, key bson.Raw) error {
	for _, f := range r.pattern.fields {
		v := key.Lookup(f.name)
		if !f.hashed || hashValue(v) {
			continue
		}
		return withContext("split failed", status.Errorf(status.CannotSplit, "splitChunk cannot split chunk %s, split point %s: "+
			"%sValue of type '%s' is not allowed for hashed fields",
			rangeText(ch.Min, ch.Max), f.name, value.Text(v), expr.TypeName(v)))
	}
	return nil
}
