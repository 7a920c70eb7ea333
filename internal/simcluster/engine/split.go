package engine

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// SplitOptions are splitVector's arguments.
type SplitOptions struct {
	Force           bool  // one split at the median, whatever the size
	MaxChunkBytes   int64 // chunks larger than this are split
	MaxChunkObjects int64 // 0 = 250,000
	MaxSplitPoints  int   // 0 = no limit
}

// SplitVector finds the keys at which [min, max) should be split, as the server's command of that
// name does (src/mongo/db/s/split_vector.cpp, 5.0): every key that begins the second half of a full
// chunk's worth of documents, by the collection's average document size; with Force the median key.
// Equal keys are never separated. It is empty when the range holds one key or too little.
func (c *Coll) SplitVector(pattern, min, max bson.Raw, o SplitOptions) []bson.Raw {
	if c.Len() == 0 {
		return nil
	}
	limit := o.MaxChunkBytes
	if o.Force {
		limit, o.MaxSplitPoints = c.bytes, 1
	} else if c.bytes < limit || limit <= 0 {
		return nil
	}
	perSplit := limit / (2 * (c.bytes / int64(c.Len())))
	if o.MaxChunkObjects <= 0 {
		o.MaxChunkObjects = 250_000
	}
	if perSplit > o.MaxChunkObjects {
		perSplit = o.MaxChunkObjects
	}
	if o.Force {
		perSplit = c.CountRange(pattern, min, max) / 2
	}
	var first, previous bson.Raw
	var found []bson.Raw
	var count int64
	c.RangeByKey(pattern, min, max, func(_ RecordID, doc bson.Raw) bool {
		count++
		if first == nil {
			first = KeyOf(pattern, doc)
			previous = first
		}
		if count <= perSplit {
			return true
		}
		key := KeyOf(pattern, doc)
		if value.CompareKeys(key, previous) == 0 {
			return true // too frequent a key: split after it
		}
		found = append(found, key)
		previous, count = key, 0
		return o.MaxSplitPoints == 0 || len(found) < o.MaxSplitPoints
	})
	return found
}

// MedianKey is the key in the middle of the documents of [min, max), never the smallest one; nil if
// all have the same key.
func (c *Coll) MedianKey(pattern, min, max bson.Raw) bson.Raw {
	if keys := c.SplitVector(pattern, min, max, SplitOptions{Force: true}); len(keys) > 0 {
		return keys[0]
	}
	return nil
}

// CountRange counts the documents whose key for the pattern is in [min, max).
func (c *Coll) CountRange(pattern, min, max bson.Raw) int64 {
	var n int64
	c.RangeByKey(pattern, min, max, func(RecordID, bson.Raw) bool { n++; return true })
	return n
}
