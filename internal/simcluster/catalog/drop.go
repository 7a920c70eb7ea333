package catalog

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// DropCollection drops a collection, sharded or not: its data on every shard, its
// metadata and its zones, and writes the changelog entries of the primary. It reports
// whether the collection existed. The caller holds Mu for writing and has waited for
// migrations ([Cluster.Quiesce]).
func (c *Cluster) DropCollection(ns string) (existed bool) {
	db, coll, ok := splitNS(ns)
	d := c.dbs[db]
	if !ok || d == nil {
		return false
	}
	var details bson.D
	if r := c.table(ns); r != nil {
		details = bson.D{{Key: "collectionUUID", Value: bson.D{{Key: "uuid", Value: uuidValue(r.UUID)}}}}
	} else if at := c.data(d.primary, ns); at != nil {
		details = bson.D{{Key: "collectionUUID", Value: bson.D{{Key: "uuid", Value: uuidValue(at.UUID)}}}}
	}
	if details == nil && !c.features.observed8 {
		return false
	}
	c.logChange(d.primary, "dropCollection.start", ns, details)
	c.dropData(ns, db, coll)
	c.logChange(d.primary, "dropCollection", ns, nil)
	return true
}

func (c *Cluster) dropData(ns, db, coll string) {
	if r := c.table(ns); r != nil {
		c.replaceData(ns, db, coll)
		c.writePlacement(ns, &r.UUID, c.Timestamp())
		return
	}
	c.replaceData(ns, db, coll)
}

// replaceData removes a collection for which another comes at once.
func (c *Cluster) replaceData(ns, db, coll string) {
	if r := c.table(ns); r != nil {
		c.forgetOrphans(r.UUID)
		c.forgetCollection(r, true)
	}
	for _, s := range c.shards {
		c.Shards[s.name].Drop(db, coll)
	}
}

// DropDatabase drops a database with its collections. Zones of namespaces that were
// never sharded stay before 8.0. It reports whether the database existed. The caller holds Mu for
// writing and has waited for migrations.
func (c *Cluster) DropDatabase(db string) (existed bool) {
	d := c.dbs[db]
	if d == nil {
		return false
	}
	c.logChange(d.primary, "dropDatabase.start", db, nil)
	for _, ns := range append(c.Namespaces(), c.Tracked()...) {
		if name, coll, _ := splitNS(ns); name == db {
			c.dropData(ns, db, coll)
		}
	}
	for _, s := range c.shards {
		c.Shards[s.name].DropDatabase(db)
	}
	if c.features.observed8 {
		for _, ns := range sortedKeys(c.zones) {
			if name, _, _ := splitNS(ns); name == db {
				c.dropZones(ns)
			}
		}
	}
	c.config.delete("databases", d.record)
	delete(c.dbs, db)
	c.writePlacement(db, nil, c.Timestamp())
	c.logChange(d.primary, "dropDatabase", db, nil)
	return true
}

// RenameCollection renames within a database, keeping uuid and chunks of a sharded
// collection; epoch and timestamp are new, zones follow. An existing target is an error
// unless dropTarget is set. The caller holds Mu for writing and has waited for
// migrations of both.
func (c *Cluster) RenameCollection(from, to string, dropTarget bool) error {
	fromDB, fromColl, ok1 := splitNS(from)
	toDB, toColl, ok2 := splitNS(to)
	if !ok1 || !ok2 {
		return status.Errorf(status.InvalidNamespace, "Invalid namespace specified")
	}
	d := c.dbs[fromDB]
	r := c.table(from)
	if err := c.renameAllowed(from, to); err != nil {
		return err
	}
	if d == nil || r == nil && c.data(d.primary, from) == nil {
		return status.Errorf(status.NamespaceNotFound, "Source collection %s does not exist", from)
	}
	if toDB != fromDB && (r != nil || c.dbs[toDB] == nil || c.dbs[toDB].primary != d.primary) {
		return status.Errorf(125, "Source and destination collections must be on the same database.")
	}
	taken := c.table(to) != nil || c.data(d.primary, to) != nil
	if taken && !dropTarget {
		return status.Errorf(status.NamespaceExists, "Target collection %s exists but the dropTarget flag is not set", to)
	}
	details := bson.D{{Key: "source", Value: from}, {Key: "destination", Value: to}}
	c.logChange(d.primary, "renameCollection.start", from, details)
	if taken {
		c.dropData(to, toDB, toColl)
	}
	for _, s := range c.shards {
		if c.data(s.name, from) == nil {
			continue
		}
		if err := c.Shards[s.name].Rename(fromDB, fromColl, toDB, toColl, true); err != nil {
			return err
		}
	}
	c.renameMetadata(r, from, to)
	c.logChange(d.primary, "renameCollection.end", from, details)
	return nil
}

// renameMetadata renames on the config server. Its log entry has the server's wrong
// namespace: the source's collection name in the database admin.
func (c *Cluster) renameMetadata(r *Routing, from, to string) {
	_, fromColl, _ := splitNS(from)
	if r == nil {
		c.logChange(configServer, "renameCollection.metadata", fmt.Sprintf("admin.%s to %s : dropped target collection.", fromColl, to), nil)
		return
	}
	// Forbidding migrations during the rename increased the version of one chunk.
	if c.bumpNewest(r); !c.features.observed8 {
		first := r.chunks[slices.IndexFunc(r.chunks, func(ch *Chunk) bool { return ch.Shard == r.ShardsOwning()[0] })]
		first.Version = r.bumpMajor()
		c.saveChunk(r, first)
	}
	delete(c.routes, from)
	delete(c.tracked, from)
	c.writePlacement(from, &r.UUID, c.Timestamp())
	r.NS, r.Epoch, r.Timestamp = to, c.objectID(configServer), c.Timestamp()
	c.setTable(r)
	c.writePlacement(to, &r.UUID, r.Timestamp, r.ShardsOwning()...)
	c.config.delete("collections", r.record)
	r.record = c.config.insert("collections", c.collectionDocument(r))
	if c.features.chunksByNS {
		for _, ch := range r.chunks {
			c.saveChunk(r, ch)
		}
	}
	c.renameZones(from, to)
	for _, o := range c.orphans {
		if o.uuid == r.UUID {
			o.ns = to
		}
	}
	c.logChange(configServer, "renameCollection.metadata",
		fmt.Sprintf("admin.%s to %s: dropped target collection and renamed source collection", fromColl, to),
		bson.D{{Key: "newCollMetadata", Value: c.collectionDocument(r)}})
}
