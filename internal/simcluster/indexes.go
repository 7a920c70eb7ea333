package simcluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func (c *Cluster) listIndexes(_ context.Context, r *engine.Request) (bson.D, error) {
	db, coll, err := namespace(r)
	if err != nil {
		return nil, err
	}
	size, err := cursorBatch(r)
	if err != nil {
		return nil, err
	}
	specs, err := c.indexSpecs(db, coll)
	if err != nil {
		return nil, err
	}
	return c.metadataCursor(&cursor{ns: db + "." + coll, docs: specs, session: sessionOf(r)}, size)
}

// indexSpecs reads the indexes from a shard that certainly has the collection.
func (c *Cluster) indexSpecs(db, coll string) ([]bson.Raw, error) {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	for _, s := range c.everywhere(db, coll).sources {
		if s.coll != nil {
			return s.coll.Indexes(), nil
		}
	}
	return nil, status.Errorf(status.NamespaceNotFound, "ns does not exist: %s.%s", db, coll)
}

func (c *Cluster) dropIndexes(ctx context.Context, r *engine.Request) (bson.D, error) {
	db, coll, err := namespace(r)
	if err != nil {
		return nil, err
	}
	if err := c.awaitTransactions(ctx, is(db+"."+coll)); err != nil {
		return nil, err
	}
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	if err := c.catalog.CheckPrimaryMove(db, coll); err != nil {
		return nil, err
	}
	c.catalog.Timestamp()
	raw, exists := bson.D{}, false
	for _, s := range c.everywhere(db, coll).sources {
		if s.coll == nil {
			continue
		}
		exists = true
		before := len(s.coll.Indexes())
		if err := dropFrom(s.coll, r.Lookup("index")); err != nil {
			return nil, err
		}
		raw = append(raw, bson.E{Key: c.catalog.Host(s.shard), Value: bson.D{{Key: "nIndexesWas", Value: int32(before)},
			{Key: "ok", Value: 1.0}}})
	}
	if !exists {
		return nil, status.Errorf(status.NamespaceNotFound, "ns not found %s.%s", db, coll)
	}
	return bson.D{{Key: "raw", Value: raw}}, nil
}

// dropFrom removes the index or indexes that the argument names: a name, a list of
// names, a key pattern, or "*" for all but _id_.
func dropFrom(coll *engine.Coll, which bson.RawValue) error {
	switch which.Type {
	case bson.TypeArray:
		for item := range value.Items(which) {
			if err := dropFrom(coll, item); err != nil {
				return err
			}
		}
		return nil
	case bson.TypeEmbeddedDocument:
		for _, spec := range coll.Indexes() {
			if value.Identical(value.Field(spec, "key"), which) {
				return coll.DropIndex(value.Field(spec, "name").StringValue())
			}
		}
		return status.Errorf(status.IndexNotFound, "can't find index with key: %s", shellText(which.Value))
	case bson.TypeString:
		if name := which.StringValue(); name != "*" {
			return coll.DropIndex(name)
		}
		for _, spec := range coll.Indexes() {
			if name := value.Field(spec, "name").StringValue(); name != "_id_" {
				if err := coll.DropIndex(name); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return wrongType("dropIndexes.index", which, "string")
}
