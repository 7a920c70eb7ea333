package simcluster

import (
	"cmp"
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// drop removes a collection from all shards. Like mongos it first waits for all
// migrations in the database, from 8.0 on for those of the collection (seen on 5.0.7 and
// 8.0.10), and succeeds when the collection does not exist.
func (c *Cluster) drop(ctx context.Context, r *engine.Request) (bson.D, error) {
	db, coll, err := namespace(r)
	if err != nil {
		return nil, err
	}
	if db == "config" || db == "admin" {
		return nil, status.Errorf(status.IllegalOperation, "Cannot drop collection %s.%s of the cluster's own metadata", db, coll)
	}
	ns := db + "." + coll
	if err := c.awaitTransactions(ctx, is(ns)); err != nil {
		return nil, err
	}
	quiesce := func() error { return c.quiesceDatabase(ctx, db, ns) }
	if c.version.atLeast(8, 0, 0) {
		quiesce = func() error { return c.catalog.Quiesce(ctx, ns) }
	}
	if err := quiesce(); err != nil {
		return nil, err
	}
	defer c.catalog.Mu.Unlock()
	if err := c.catalog.CheckPrimaryMove(db, coll); err != nil {
		return nil, err
	}
	if _, ok := c.catalog.Primary(db); !ok {
		return bson.D{{Key: "info", Value: "database does not exist"}}, nil
	}
	c.catalog.DropCollection(ns)
	c.catalog.Timestamp()
	return bson.D{}, nil
}

func (c *Cluster) dropDatabase(ctx context.Context, r *engine.Request) (bson.D, error) {
	switch r.DB {
	case "config", "admin", "local":
		return nil, status.Errorf(status.IllegalOperation, "Dropping the '%s' database is prohibited.", r.DB)
	}
	if err := c.awaitTransactions(ctx, in(r.DB)); err != nil {
		return nil, err
	}
	if err := c.quiesceDatabase(ctx, r.DB, ""); err != nil {
		return nil, err
	}
	defer c.catalog.Mu.Unlock()
	if err := c.catalog.CheckPrimaryMove(r.DB, ""); err != nil {
		return nil, err
	}
	c.catalog.Timestamp()
	if !c.catalog.DropDatabase(r.DB) {
		return bson.D{{Key: "info", Value: "database does not exist"}}, nil
	}
	return bson.D{}, nil
}

// quiesceDatabase locks catalog.Mu once no collection of the database is migrating and
// ns, if given, is not being resharded. On error the lock is not held.
func (c *Cluster) quiesceDatabase(ctx context.Context, db, ns string) error {
	for {
		c.catalog.Mu.RLock()
		busy := c.migrating(db)
		c.catalog.Mu.RUnlock()
		if err := c.catalog.Quiesce(ctx, cmp.Or(busy, ns)); err != nil {
			return err
		}
		if busy == "" && c.migrating(db) == "" {
			return nil
		}
		c.catalog.Mu.Unlock()
	}
}

// migrating returns a collection of the database that has a running migration, or "".
// The caller holds catalog.Mu.
func (c *Cluster) migrating(db string) string {
	for _, m := range c.catalog.Migrations() {
		if name, _, _ := cut(m.NS); name == db {
			return m.NS
		}
	}
	return ""
}

// renameCollection takes full namespaces, on the admin database.
func (c *Cluster) renameCollection(ctx context.Context, r *engine.Request) (bson.D, error) {
	db, coll, err := fullNamespace(r)
	if err != nil {
		return nil, err
	}
	to, ok := r.Lookup("to").StringValueOK()
	if !ok {
		return nil, wrongType("renameCollection.to", r.Lookup("to"), "string")
	}
	toDB, toColl, ok := cut(to)
	if !ok {
		return nil, status.Errorf(status.InvalidNamespace, "Invalid target namespace: %s", to)
	}
	if err := checkCollection(toDB, toColl); err != nil {
		return nil, err
	}
	from := db + "." + coll
	if from == to {
		return nil, status.Errorf(status.IllegalOperation, "Can't rename a collection to itself")
	}
	if err := c.awaitTransactions(ctx, func(ns string) bool { return ns == from || ns == to }); err != nil {
		return nil, err
	}
	if err := c.catalog.Quiesce(ctx, from); err != nil {
		return nil, err
	}
	defer c.catalog.Mu.Unlock()
	if err := errors.Join(c.catalog.CheckPrimaryMove(db, coll), c.catalog.CheckPrimaryMove(toDB, toColl)); err != nil {
		return nil, err
	}
	c.catalog.Timestamp()
	return bson.D{}, c.catalog.RenameCollection(from, to, truthy(r.Lookup("dropTarget")))
}
