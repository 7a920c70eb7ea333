package simcluster

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// create makes an unsharded collection.
func (c *Cluster) create(ctx context.Context, r *engine.Request, db, coll string) (bson.D, error) {
	options, series := bson.D{}, bson.D(nil)
	for e := value.Read(r.Body); e.Next(); {
		switch name := string(e.Key); name {
		case "viewOn", "clusteredIndex":
			return nil, status.Errorf(status.CommandNotSupported, "this simulated cluster does not create collections with '%s'", name)
		case "capped", "size", "max", "validator", "validationLevel", "validationAction", "storageEngine", "expireAfterSeconds":
			options = append(options, bson.E{Key: name, Value: e.Value})
		case "timeseries":
			given, ok := e.Value.DocumentOK()
			if !ok {
				return nil, status.Errorf(status.TypeMismatch, "BSON field 'create.timeseries' is the wrong type")
			}
			var err error
			if coll, series, err = c.seriesOptions(coll, given); err != nil {
				return nil, err
			}
			if options = append(options, bson.E{Key: name, Value: series}); strings.HasPrefix(coll, bucketsPrefix) {
				options = bucketsOptions(series)
			}
		}
	}
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	if err := c.catalog.CheckPrimaryMove(db, coll); err != nil {
		return nil, err
	}
	c.catalog.Timestamp()
	node := c.makeHome(db, coll)
	if node.Coll(db, coll) != nil || c.catalog.Routing(db+"."+coll) != nil {
		return nil, status.Errorf(status.NamespaceExists, "Collection already exists. NS: %s.%s", db, coll)
	}
	made := node.Create(db, coll, c.catalog.UUID(), encode(options))
	if series != nil {
		return bson.D{}, c.addSeries(node, made, series)
	}
	return bson.D{}, nil
}

func (c *Cluster) listCollections(_ context.Context, r *engine.Request) (bson.D, error) {
	p := c.arguments(r)
	filter, size := p.filter("filter"), p.batch()
	if p.err != nil {
		return nil, p.err
	}
	docs, err := c.collectionRows(r.DB, truthy(r.Lookup("nameOnly")), filter, c.mayListCollection(r))
	if err != nil {
		return nil, err
	}
	k := &cursor{ns: r.DB + ".$cmd.listCollections", docs: docs, session: sessionOf(r)}
	return c.metadataCursor(k, size)
}

// collectionRows lists the collections of a database that the user may see.
func (c *Cluster) collectionRows(db string, nameOnly bool, filter *query.Filter, may func(coll string) bool) ([]bson.Raw, error) {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	node, _ := c.home(db)
	if node == nil {
		return nil, nil
	}
	var docs []bson.Raw
	for _, coll := range c.collectionsOf(db, node) {
		if !may(coll.Name) {
			continue
		}
		for _, d := range seriesRow(coll, collectionRow(coll)) {
			row := encode(d)
			if ok, err := filter.Match(row); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
			if nameOnly {
				row = encode(d[:2]) // name and type
			}
			docs = append(docs, row)
		}
	}
	return docs, nil
}

// collectionsOf lists the collections on a database's primary shard, and the sharded
// ones that have no chunk there (after movePrimary). The caller holds catalog.Mu.
func (c *Cluster) collectionsOf(db string, home *engine.Node) []*engine.Coll {
	list := home.Colls(db)
	for _, ns := range append(c.catalog.Namespaces(), c.catalog.Tracked()...) {
		in, name, _ := cut(ns)
		if in != db || home.Coll(db, name) != nil {
			continue
		}
		for _, s := range c.everywhere(db, name).sources {
			if s.coll != nil {
				list = append(list, s.coll)
				break
			}
		}
	}
	return list
}

func collectionRow(coll *engine.Coll) bson.D {
	options := coll.Options
	if options == nil {
		options = encode(bson.D{})
	}
	row := value.D("name", coll.Name, "type", "collection", "options", options,
		"info", value.D("readOnly", false, "uuid", uuidValue(coll.UUID)),
		"idIndex", value.D("v", int32(2), "key", value.D("_id", int32(1)), "name", "_id_"))
	if truthy(value.Field(options, "clusteredIndex")) {
		return row[:4] // no index of _id
	}
	return row
}

// metadataCursor is firstBatchReply in the field order of replies that mongos passes
// through from one shard.
func (c *Cluster) metadataCursor(k *cursor, size int64) (bson.D, error) {
	d, err := c.firstBatchReply(k, size, false)
	if err != nil {
		return nil, err
	}
	return value.D("cursor", bson.D{d[1], d[2], d[0]}), nil
}

func (c *Cluster) listDatabases(_ context.Context, r *engine.Request) (bson.D, error) {
	p := c.arguments(r)
	filter := p.filter("filter")
	mayList, err := c.mayListDatabase(r)
	if p.keep(err); p.err != nil {
		return nil, p.err
	}
	nameOnly := truthy(r.Lookup("nameOnly"))
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	rows, total := bson.A{}, int64(0)
	for _, name := range c.databaseNames() {
		if !mayList(name) {
			continue
		}
		row, size := c.databaseRow(name)
		if ok, err := filter.Match(encode(row)); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		total += size
		if nameOnly {
			row = row[:1]
		}
		rows = append(rows, row)
	}
	return value.D("databases", rows, value.When(!nameOnly, "totalSize", total, "totalSizeMb", total>>20)), nil
}

// databaseNames lists the databases that have a collection on any shard, sorted; admin
// and config always exist. The caller holds catalog.Mu.
func (c *Cluster) databaseNames() []string {
	names := map[string]bool{"admin": true, "config": true}
	for _, node := range c.catalog.Shards {
		for _, db := range node.Databases() {
			names[db] = true
		}
	}
	for _, db := range c.catalog.Config.Databases() {
		names[db] = true
	}
	delete(names, "local")
	return slices.Sorted(maps.Keys(names))
}

func (c *Cluster) databaseRow(name string) (bson.D, int64) {
	parts, total := bson.D{}, int64(0)
	add := func(shard string, node *engine.Node) {
		size := int64(0)
		for _, coll := range node.Colls(name) {
			size += storageSize(coll) + totalIndexSize(coll)
		}
		if shard == configShard && name == "admin" {
			size += 49152 // system.version and system.keys are not simulated
		}
		if shard != configShard && name == "config" {
			size += 53248 // a shard's routing cache and other local collections are not simulated
		}
		if size > 0 {
			parts = append(parts, bson.E{Key: shard, Value: size})
			total += size
		}
	}
	for _, shard := range c.catalog.ShardNames() {
		add(shard, c.catalog.Shards[shard])
	}
	add(configShard, c.catalog.Config)
	return value.D("name", name, "sizeOnDisk", total, "empty", total == 0, "shards", parts), total
}

// drop removes a collection from all shards. Like mongos it first waits for all
// migrations in the database, from 8.0 on for those of the collection (seen on 5.0.7 and
// 8.0.10), and succeeds when the collection does not exist.
func (c *Cluster) drop(ctx context.Context, r *engine.Request, db, coll string) (bson.D, error) {
	if db == "config" || db == "admin" {
		return nil, status.Errorf(status.IllegalOperation, "Cannot drop collection %s.%s of the cluster's own metadata", db, coll)
	}
	ns := db + "." + coll
	quiesce := func() error { return c.quiesceDatabase(ctx, db, ns) }
	if c.version.atLeast(8, 0, 0) {
		quiesce = func() error { return c.catalog.Quiesce(ctx, ns) }
	}
	unlock, err := c.alter(ctx, is(ns), quiesce, ns)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, ok := c.catalog.Primary(db); !ok {
		return value.D("info", "database does not exist"), nil
	}
	c.catalog.DropCollection(ns)
	return bson.D{}, nil
}

func (c *Cluster) dropDatabase(ctx context.Context, r *engine.Request) (bson.D, error) {
	switch r.DB {
	case "config", "admin", "local":
		return nil, status.Errorf(status.IllegalOperation, "Dropping the '%s' database is prohibited.", r.DB)
	}
	unlock, err := c.alter(ctx, in(r.DB), func() error { return c.quiesceDatabase(ctx, r.DB, "") }, r.DB+".")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if !c.catalog.DropDatabase(r.DB) {
		return value.D("info", "database does not exist"), nil
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
	either := func(ns string) bool { return ns == from || ns == to }
	unlock, err := c.alter(ctx, either, func() error { return c.catalog.Quiesce(ctx, from) }, from, to)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return bson.D{}, c.catalog.RenameCollection(from, to, truthy(r.Lookup("dropTarget")))
}
