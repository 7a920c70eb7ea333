package catalog

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// scan visits a collection in insertion order until visit returns false.
func scan(coll *engine.Coll, visit func(engine.RecordID, bson.Raw) bool) {
	for id, doc := range coll.All() {
		if !visit(id, doc) {
			return
		}
	}
}

// data is a shard's part of a collection, or nil.
func (c *Cluster) data(shard, ns string) *engine.Coll {
	db, coll, ok := splitNS(ns)
	if !ok || c.Shards[shard] == nil {
		return nil
	}
	return c.Shards[shard].Coll(db, coll)
}

func nodeBytes(n *engine.Node) int64 {
	var sum int64
	for _, db := range n.Databases() {
		for _, coll := range n.Colls(db) {
			sum += coll.Bytes()
		}
	}
	return sum
}

// rangeByKey visits a shard's documents whose key lies in [lo, hi), in key order.
func rangeByKey(coll *engine.Coll, r *Routing, lo, hi bson.Raw, visit func(engine.RecordID, bson.Raw) bool) {
	coll.RangeByKey(r.Key, lo, hi, visit)
}

// EnsureCollection creates a collection on a shard if needed, with the uuid, options
// and indexes of from, as a recipient does before it clones. from is nil for a new
// collection. The caller holds Mu for writing.
func (c *Cluster) EnsureCollection(shard, ns string, uuid [16]byte, from *engine.Coll) (*engine.Coll, error) {
	db, name, _ := splitNS(ns)
	node := c.Shards[shard]
	coll := node.Coll(db, name)
	if coll == nil {
		var options bson.Raw
		if from != nil {
			options = from.Options
		}
		coll = node.Create(db, name, uuid, options)
	}
	if from == nil || from == coll {
		return coll, nil
	}
	for _, spec := range from.Indexes() {
		if n, _ := spec.Lookup("name").StringValueOK(); n == "_id_" {
			continue
		}
		var d bson.D
		if err := bson.Unmarshal(spec, &d); err != nil {
			return nil, err
		}
		if _, err := coll.EnsureIndex(d); err != nil {
			return nil, err
		}
	}
	return coll, nil
}

// supports reports whether a collection has an index that begins with the key and
// contains every document (not sparse, not partial).
func supports(coll *engine.Coll, key bson.Raw) bool {
	for _, spec := range coll.Indexes() {
		if truthy(spec.Lookup("sparse")) || spec.Lookup("partialFilterExpression").Type != 0 {
			continue
		}
		if index, ok := spec.Lookup("key").DocumentOK(); ok && isPrefix(key, index) {
			return true
		}
	}
	return false
}

// isPrefix reports whether the fields of a are the first fields of b, with the same
// directions.
func isPrefix(a, b bson.Raw) bool {
	ea, err1 := a.Elements()
	eb, err2 := b.Elements()
	if err1 != nil || err2 != nil || len(ea) > len(eb) {
		return false
	}
	for i, e := range ea {
		if e.Key() != eb[i].Key() || value.Compare(e.Value(), eb[i].Value()) != 0 {
			return false
		}
	}
	return true
}
