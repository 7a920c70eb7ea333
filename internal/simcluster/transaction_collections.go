package simcluster

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// createIn makes a collection that exists for others when the transaction is committed.
func (c *Cluster) createIn(tx *transaction, db, coll string, options bson.D) error {
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	t, err := c.seenBy(tx, c.target(db, coll, nil))
	if err != nil {
		return err
	}
	for _, s := range t.sources {
		if s.coll != nil {
			return status.Errorf(status.NamespaceExists, "Collection already exists. NS: %s.%s", db, coll)
		}
	}
	made, err := c.collectionOn(tx, db, coll, "", nil)
	if err == nil {
		made.Options = encode(options)
	}
	return err
}

// createIndexesIn makes indexes of an empty collection in a transaction. The server
// allows that only for a collection that the transaction itself created or that is
// empty.
func (c *Cluster) createIndexesIn(tx *transaction, db, coll string, specs []bson.D) (bson.D, error) {
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	t, err := c.seenBy(tx, c.target(db, coll, nil))
	if err != nil {
		return nil, err
	}
	if t.routing == nil && (len(t.sources) == 0 || t.sources[0].coll == nil) {
		made, err := c.collectionOn(tx, db, coll, "", nil)
		if err != nil {
			return nil, err
		}
		t.sources = []source{{shard: tx.byColl[made].shard, coll: made}}
	}
	raw := bson.D{}
	for _, s := range t.sources {
		if s.coll == nil {
			continue
		}
		one, err := c.createIndexesOn(tx, s.coll, specs)
		if err != nil {
			return nil, err
		}
		raw = append(raw, bson.E{Key: c.catalog.Host(s.shard), Value: one})
	}
	return bson.D{{Key: "raw", Value: raw}}, nil
}

func (c *Cluster) createIndexesOn(tx *transaction, coll *engine.Coll, specs []bson.D) (bson.D, error) {
	v := tx.byColl[coll]
	before := len(coll.Indexes())
	for _, spec := range specs {
		if v.live != nil && coll.Len() > 0 && !hasIndex(coll, spec) {
			return nil, status.Errorf(status.OperationNotSupportedInTransaction,
				"Cannot create new indexes on existing collection %s in a multi-document transaction.", coll.NS())
		}
		created, err := coll.EnsureIndex(spec)
		if err != nil {
			return nil, err
		}
		if created {
			tx.change(v)
			v.indexes = append(v.indexes, spec)
		}
	}
	return bson.D{
		{Key: "numIndexesBefore", Value: int32(before)},
		{Key: "numIndexesAfter", Value: int32(len(coll.Indexes()))},
		{Key: "ok", Value: 1.0},
	}, nil
}

// hasIndex reports whether the collection has an index of that name.
func hasIndex(coll *engine.Coll, spec bson.D) bool {
	for _, have := range coll.Indexes() {
		for _, e := range spec {
			if e.Key == "name" && e.Value == have.Lookup("name").StringValue() {
				return true
			}
		}
	}
	return false
}
