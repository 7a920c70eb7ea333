package topology

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// question is a read that mongos sends to one shard alone.
type question struct {
	ns     Namespace
	filter bson.D
	hint   bson.Raw
	key    shardkey.Key // of the row that is asked for; zero: the collection is not sharded
}

const (
	// hashTries is how many values are tried to find one whose hash a shard owns.
	hashTries = 4096
	// chunksTried is in how many of a shard's chunks a row is looked for.
	chunksTried = 16
)

// question is what a shard is asked; false when nothing is known that it alone would answer.
func (x *answerWatch) question(t *Table, shard string) (question, bool) {
	if q, ok := x.asked[shard]; ok && x.refused[q.ns] == nil && t.stillOf(shard, q) {
		return q, true
	}
	q, ok := x.find(t, shard)
	if ok {
		x.asked[shard] = q
	} else {
		delete(x.asked, shard)
	}
	return q, ok
}

// stillOf tells whether the shard still has what the question is about.
func (t *Table) stillOf(shard string, q question) bool {
	if q.key.IsZero() {
		return slices.Contains(t.Unsharded, q.ns) && t.Primary(q.ns.Database()) == shard
	}
	c := t.Collection(q.ns)
	if c == nil || !usableForAsking(c) {
		return false
	}
	_, chunk := c.Chunks.Find(q.key)
	return chunk.Shard == shard
}

func usableForAsking(c *Collection) bool {
	return !c.Unsplittable && !c.Temporary && !c.Resharding && c.Series == (Series{}) && c.Chunks.Len() > 0
}

func (x *answerWatch) find(t *Table, shard string) (question, bool) {
	for _, c := range t.Collections {
		if x.refused[c.NS] != nil || !usableForAsking(c) || c.Chunks.CountByShard()[shard] == 0 {
			continue
		}
		if key, filter, ok := rowAt(c, shard); ok {
			return question{ns: c.NS, filter: filter, hint: c.Key.Raw(), key: key}, true
		}
	}
	for _, ns := range t.Unsharded {
		if x.refused[ns] == nil && t.Primary(ns.Database()) == shard {
			return question{ns: ns, filter: bson.D{{Key: "_id", Value: bson.MinKey{}}}}, true
		}
	}
	return question{}, false
}

// rowAt is the key of a row that a shard would have, and the filter for it. Only values are used with which mongos asks
// one shard: with MinKey or null it might ask more.
func rowAt(c *Collection, shard string) (key shardkey.Key, filter bson.D, ok bool) {
	if hashed := c.Key.Hashed(); hashed == 0 && c.Key.Len() == 1 {
		return hashedRow(c, shard, make([]bson.RawValue, 1), 0)
	}
	left := chunksTried
	for i, owner := range c.Chunks.Owners() {
		if owner != shard {
			continue
		}
		if left--; left < 0 {
			break
		}
		values, err := c.Key.Values(c.Chunks.At(i).Min)
		if err != nil {
			continue
		}
		for j, v := range values {
			if v.Type == bson.TypeMinKey {
				values[j] = smallNumber
			}
		}
		if !slices.ContainsFunc(values, notExact) {
			if key, filter, ok = hashedRow(c, shard, values, c.Key.Hashed()); ok {
				return key, filter, true
			}
		}
	}
	return key, nil, false
}

// hashedRow is rowAt with given values; where one is hashed, values for it are tried.
func hashedRow(c *Collection, shard string, values []bson.RawValue, hashed int) (shardkey.Key, bson.D, bool) {
	tries := 1
	if hashed >= 0 {
		tries = hashTries
	}
	for i := range tries {
		if hashed >= 0 {
			values[hashed] = int64Value(int64(i))
		}
		key, err := c.Key.KeyOf(values...)
		if err != nil {
			return key, nil, false
		}
		if _, chunk := c.Chunks.Find(key); chunk.Shard != shard {
			continue
		}
		filter := bson.D{}
		for j, f := range c.Key.Fields() {
			filter = append(filter, bson.E{Key: f.Name, Value: bson.D{{Key: "$eq", Value: values[j]}}})
		}
		return key, filter, true
	}
	return shardkey.Key{}, nil, false
}

func notExact(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeMinKey, bson.TypeMaxKey, bson.TypeNull, bson.TypeUndefined, bson.TypeArray, bson.TypeRegex:
		return true
	}
	return false
}

// smallNumber is less than nearly all values.
var smallNumber = int64Value(math.MinInt64)

func int64Value(n int64) bson.RawValue {
	t, data, _ := bson.MarshalValue(n)
	return bson.RawValue{Type: t, Value: data}
}
