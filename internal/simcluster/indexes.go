package simcluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func (c *Cluster) listIndexes(_ context.Context, r *engine.Request, db, coll string) (bson.D, error) {
	p := c.arguments(r)
	size := p.batch()
	specs, err := c.indexSpecs(db, coll)
	if p.keep(err); p.err != nil {
		return nil, p.err
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

// alter locks catalog.Mu for a change of collections that no open transaction has touched, by lock, which waits for
// what else is in the way. Where it returns an error, catalog.Mu is not held.
func (c *Cluster) alter(ctx context.Context, concerns func(ns string) bool, lock func() error, names ...string) (unlock func(), err error) {
	if err := c.transactions.awaitTransactions(ctx, concerns); err != nil {
		return nil, err
	}
	if err := lock(); err != nil {
		return nil, err
	}
	for _, ns := range names {
		db, coll, _ := cut(ns)
		if err := c.catalog.CheckPrimaryMove(db, coll); err != nil {
			c.catalog.Mu.Unlock()
			return nil, err
		}
	}
	c.catalog.Timestamp()
	return c.catalog.Mu.Unlock, nil
}

// lockAtOnce is alter's lock for changes that migrations do not mind.
func (c *Cluster) lockAtOnce() error {
	c.catalog.Mu.Lock()
	return nil
}

func (c *Cluster) dropIndexes(ctx context.Context, r *engine.Request, db, coll string) (bson.D, error) {
	unlock, err := c.alter(ctx, is(db+"."+coll), c.lockAtOnce, db+"."+coll)
	if err != nil {
		return nil, err
	}
	defer unlock()
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
		raw = append(raw, bson.E{Key: c.catalog.Host(s.shard), Value: value.D("nIndexesWas", int32(before), "ok", 1.0)})
	}
	if !exists {
		return nil, status.Errorf(status.NamespaceNotFound, "ns not found %s.%s", db, coll)
	}
	return value.D("raw", raw), nil
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

// createIndexes makes indexes on every shard that owns chunks. An unsharded
// collection that does not exist is created with its first index.
func (c *Cluster) createIndexes(ctx context.Context, r *engine.Request, db, coll string) (bson.D, error) {
	specs, err := statements(r, "indexes")
	if err != nil {
		return nil, err
	}
	for _, spec := range specs {
		if err := checkIndexSpec(spec); err != nil {
			return nil, err
		}
	}
	unlock, err := c.alter(ctx, is(db+"."+coll), c.lockAtOnce, db+"."+coll)
	if err != nil {
		return nil, err
	}
	defer unlock()
	routing := c.catalog.Routing(db + "." + coll)
	if routing == nil && db != "config" && db != "admin" {
		c.catalog.EnsureDatabase(db)
	}
	for _, spec := range specs {
		if err := uniqueAllowed(routing, spec); err != nil {
			return nil, err
		}
	}
	raw := bson.D{}
	for _, s := range c.everywhere(db, coll).sources {
		one, err := c.createOn(db, coll, s, routing, specs)
		if err != nil {
			return nil, err
		}
		raw = append(raw, bson.E{Key: c.catalog.Host(s.shard), Value: one})
	}
	return value.D("raw", raw), nil
}

func (c *Cluster) createOn(db, name string, s source, routing *catalog.Routing, specs []bson.Raw) (bson.D, error) {
	fresh := s.coll == nil
	coll, err := c.collectionOn(nil, db, name, s.shard, routing)
	if err != nil {
		return nil, err
	}
	before, made := len(coll.Indexes()), 0
	for _, spec := range specs {
		created, err := coll.EnsureIndex(spec)
		if err != nil {
			return nil, err
		}
		if created {
			made++
		}
	}
	return value.D("numIndexesBefore", int32(before), "numIndexesAfter", int32(before+made),
		value.When(made == 0, "note", "all indexes already exist"),
		value.When(made > 0, "createdCollectionAutomatically", fresh, "commitQuorum", "votingMembers"), "ok", 1.0), nil
}

// checkIndexSpec checks a spec before any collection is made for it.
func checkIndexSpec(raw bson.Raw) error {
	err := engine.CheckIndex(raw)
	if err == nil && value.Field(raw, "name").Type != bson.TypeString {
		err = status.Errorf(status.FailedToParse, "The 'name' field is a required property of an index specification")
	}
	return status.Context("Error in specification "+shellText(raw), err)
}

// uniqueAllowed enforces that a unique index on a sharded collection begins with
// the shard key: no shard could check it otherwise (s/shard_key_pattern.cpp,
// isUniqueIndexCompatible).
func uniqueAllowed(r *catalog.Routing, spec bson.Raw) error {
	if r == nil || !truthy(value.Field(spec, "unique")) {
		return nil
	}
	key := bson.Raw(value.Field(spec, "key").Value)
	if name, _ := value.First(key); name == "_id" {
		return nil
	}
	fields := r.FieldNames()
	e := value.Read(key)
	for _, f := range fields {
		if !e.Next() || string(e.Key) != f {
			return status.Errorf(status.CannotCreateIndex, "cannot create unique index over %s with shard key pattern %s",
				shellText(key), shellText(r.Key))
		}
	}
	return nil
}
