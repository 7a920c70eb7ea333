package engine

import (
	"bytes"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// KeyOf builds the key of a document for a shard-key or index pattern, with the pattern's field
// names: hashed fields as int64 hashes, missing ones as null.
func KeyOf(pattern, doc bson.Raw) bson.Raw {
	b := value.NewBuilder(64)
	for name, kind := range value.Elements(pattern) {
		v, found := value.Lookup(doc, name)
		if !found {
			v = value.Null()
		}
		if kind.Type == bson.TypeString { // "hashed"
			v = value.Int64(value.Hash(v))
		}
		b.Append(name, v)
	}
	return b.Raw()
}

// RangeByKey visits the documents whose key for the pattern is in [min, max), in key order, through
// an index that begins with the pattern's fields (without one: by sorting). Bounds have the pattern's
// fields, or its first ones; hashed fields hold the hash. nil bounds are open. each returns false to
// stop and must not change the collection.
func (c *Coll) RangeByKey(pattern, min, max bson.Raw, each func(RecordID, bson.Raw) bool) {
	if x := c.indexFor(pattern); x != nil {
		high := keyBound(x, max)
		x.tree.AscendGreaterOrEqual(keyBound(x, min), func(e entry) bool {
			return (max == nil || x.less(e, high)) && each(e.rec.id, e.rec.doc)
		})
		return
	}
	type keyed struct {
		id  RecordID
		doc bson.Raw
		key bson.Raw
	}
	var all []keyed
	for id, doc := range c.All() {
		key := KeyOf(pattern, doc)
		if (min == nil || value.CompareKeys(min, key) <= 0) && (max == nil || value.CompareKeys(key, max) < 0) {
			all = append(all, keyed{id, doc, key})
		}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return value.CompareKeys(a.key, b.key) })
	for _, k := range all {
		if !each(k.id, k.doc) {
			return
		}
	}
}

// indexFor finds an index whose first fields are the pattern's, ascending, of the same kind, over all
// documents and without arrays.
func (c *Coll) indexFor(pattern bson.Raw) *index {
	fields, err := parseKey(pattern)
	if err != nil {
		return nil
	}
	for _, x := range c.indexes {
		if len(x.fields) < len(fields) || x.partial != nil || x.sparse || x.multi != 0 {
			continue
		}
		if bytes.Equal(normalKey(x.fields[:len(fields)]), normalKey(fields)) {
			return x
		}
	}
	return nil
}

// keyBound is a chunk bound as a place in the index, before the documents with that key; nil is the beginning.
func keyBound(x *index, key bson.Raw) entry {
	var values []bson.RawValue
	for _, v := range value.Elements(key) {
		values = append(values, v)
	}
	return bound(len(x.fields), values, before)
}

func uuidText(u [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// CountRange counts the documents whose key for the pattern is in [min, max).
func (c *Coll) CountRange(pattern, min, max bson.Raw) int64 {
	var n int64
	c.RangeByKey(pattern, min, max, func(RecordID, bson.Raw) bool { n++; return true })
	return n
}
