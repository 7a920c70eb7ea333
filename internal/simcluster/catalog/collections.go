package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// collectionDocument is the row of config.collections, fields in the order of 5.0.7.
func (c *Cluster) collectionDocument(r *Routing) bson.D {
	d := value.D("_id", r.NS, "lastmodEpoch", r.Epoch, "lastmod", bson.NewDateTimeFromTime(r.Lastmod))
	if !c.since(5) { // no timestamp, and noBalance only when it is set
		return value.D(d, "dropped", false, "key", r.Key, "unique", r.Unique, "uuid", uuidValue(r.UUID), "distributionMode", "sharded",
			value.When(r.NoBalance, "noBalance", true), r.extra)
	}
	return value.D(d, "timestamp", r.Timestamp, "uuid", uuidValue(r.UUID), "key", r.Key,
		value.When(r.simple, "defaultCollation", value.D("locale", "simple")), "unique", r.Unique, r.orderedFields(), r.extra)
}

// orderedFields are the fields after unique, in the order in which they were first written.
func (r *Routing) orderedFields() bson.D {
	fields := value.D("noBalance", r.NoBalance, r.nonDefaultFields())
	place := func(e bson.E) int {
		if i := slices.Index(r.newer.order, e.Key); i >= 0 {
			return i
		}
		return len(r.newer.order)
	}
	slices.SortStableFunc(fields, func(a, b bson.E) int { return cmp.Compare(place(a), place(b)) })
	return fields
}

// wrote notes that one update wrote some fields: those that are new follow the others, sorted by name, as $set adds
// them.
func (r *Routing) wrote() {
	var names, old []string
	for _, e := range append(bson.D{{Key: "noBalance"}}, r.nonDefaultFields()...) {
		names = append(names, e.Key)
	}
	for _, name := range append(r.newer.order, "noBalance") {
		if slices.Contains(names, name) && !slices.Contains(old, name) {
			old = append(old, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if !slices.Contains(old, name) {
			old = append(old, name)
		}
	}
	r.newer.order = old
}

func (c *Cluster) saveCollection(r *Routing) {
	c.config.update("collections", r.record, c.collectionDocument(r))
}

// newRouting writes a collection and its chunks to the config database and adds its
// routing table.
func (c *Cluster) newRouting(ns string, p pattern, uuid [16]byte, unique bool, epoch bson.ObjectID, at bson.Timestamp) *Routing {
	r := &Routing{
		NS: ns, UUID: uuid, Key: p.raw, pattern: p, Unique: unique, Permitted: true,
		Epoch: epoch, Timestamp: at, Lastmod: c.Now().Truncate(time.Millisecond),
		release: c.release, counts: make(map[string]int), written: make(map[bson.ObjectID]int64),
	}
	c.clearTombstone(ns)
	r.record = c.config.insert("collections", c.collectionDocument(r))
	c.tables[ns] = r
	return r
}

// placeChunk makes a chunk of a shard and writes its document; the caller adds it to the routing table.
func (c *Cluster) placeChunk(r *Routing, lo, hi bson.Raw, shard string, version, since bson.Timestamp) *Chunk {
	ch := &Chunk{
		ID: c.objectID(configServer), Min: lo, Max: hi, Shard: shard, Version: version,
		History: []Placement{{ValidAfter: since, Shard: shard}},
	}
	c.addChunk(r, ch)
	return ch
}

// addChunk writes a new chunk document; the caller adds it to the routing table.
func (c *Cluster) addChunk(r *Routing, ch *Chunk) {
	ch.record = c.config.insert("chunks", r.document(ch))
}

func (c *Cluster) saveChunk(r *Routing, ch *Chunk) {
	c.config.update("chunks", ch.record, r.document(ch))
}

// forgetCollection removes a collection's metadata: collection, chunks and, if zones is
// set, zone ranges.
func (c *Cluster) forgetCollection(r *Routing, zones bool) {
	for _, ch := range r.chunks {
		c.config.delete("chunks", ch.record)
	}
	c.removeCollectionDocument(r)
	delete(c.tables, r.NS)
	if zones {
		c.dropZones(r.NS)
	}
}

// reloadCollections reads config.collections again after a client wrote into it:
// noBalance is what clients set there.
func (c *Cluster) reloadCollections() {
	for id, doc := range c.config.all("collections") {
		ns, _ := doc.Lookup("_id").StringValueOK()
		r := c.tables[ns]
		if r == nil {
			continue
		}
		r.record = id
		switchedOff := func(name string) bool { on, ok := doc.Lookup(name).BooleanOK(); return ok && !on }
		r.newer.noAutoMerge = c.since(7) && switchedOff("enableAutoMerge")
		r.NoBalance = truthy(doc.Lookup("noBalance"))
		r.Permitted = !switchedOff("permitMigrations") // by setAllowMigrations; a resharding forbids migrations by another field
	}
}

// readChunks reads the chunks of config.chunks by namespace.
func (c *Cluster) readChunks() map[string][]*Chunk {
	lists, byUUID := make(map[string][]*Chunk), make(map[[16]byte]string)
	for ns, r := range c.tables {
		byUUID[r.UUID] = ns
	}
	for id, doc := range c.config.all("chunks") {
		ns, ok := doc.Lookup("ns").StringValueOK()
		if _, data, isUUID := doc.Lookup("uuid").BinaryOK(); !ok && isUUID && len(data) == 16 {
			ns = byUUID[[16]byte(data)]
		}
		lists[ns] = append(lists[ns], c.release.parseChunk(id, doc))
	}
	return lists
}

// reloadChunks reads config.chunks again after a client wrote into it.
func (c *Cluster) reloadChunks() {
	lists := c.readChunks()
	for ns, r := range c.tables {
		if len(lists[ns]) > 0 {
			r.setChunks(lists[ns])
		}
	}
}

// ConfigWritten reloads config.<coll> after a client wrote to it directly. The caller
// holds Mu for writing.
func (c *Cluster) ConfigWritten(coll string) {
	switch coll {
	case "settings":
		c.set = c.readSettings()
	case "shards":
		c.reloadShards()
	case "databases":
		c.reloadDatabases()
	case "collections":
		c.reloadCollections()
	case "chunks":
		c.reloadChunks()
	case "tags":
		c.reloadZones()
	}
}

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
	if r := c.tables[ns]; r != nil {
		details = value.D("collectionUUID", value.D("uuid", uuidValue(r.UUID)))
	} else if at := c.data(d.primary, ns); at != nil {
		details = value.D("collectionUUID", value.D("uuid", uuidValue(at.UUID)))
	}
	if details == nil && !c.since(8) {
		return false
	}
	c.logChange(d.primary, "dropCollection.start", ns, details)
	c.dropData(ns, db, coll)
	c.logChange(d.primary, "dropCollection", ns, nil)
	return true
}

func (c *Cluster) dropData(ns, db, coll string) {
	if r := c.tables[ns]; r != nil {
		c.replaceData(ns, db, coll)
		c.writePlacement(ns, &r.UUID, c.Timestamp())
		return
	}
	c.replaceData(ns, db, coll)
}

// replaceData removes a collection for which another comes at once.
func (c *Cluster) replaceData(ns, db, coll string) {
	if r := c.tables[ns]; r != nil {
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
	if c.since(8) {
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
	r := c.tables[from]
	if err := c.renameAllowed(from, to); err != nil {
		return err
	}
	if d == nil || r == nil && c.data(d.primary, from) == nil {
		return status.Errorf(status.NamespaceNotFound, "Source collection %s does not exist", from)
	}
	if toDB != fromDB && (r != nil || c.dbs[toDB] == nil || c.dbs[toDB].primary != d.primary) {
		return status.Errorf(125, "Source and destination collections must be on the same database.")
	}
	taken := c.tables[to] != nil || c.data(d.primary, to) != nil
	if taken && !dropTarget {
		return status.Errorf(status.NamespaceExists, "Target collection %s exists but the dropTarget flag is not set", to)
	}
	details := value.D("source", from, "destination", to)
	c.logChange(d.primary, "renameCollection.start", from, details)
	if taken {
		c.dropData(to, toDB, toColl)
	}
	for _, s := range c.shards {
		if c.data(s.name, from) != nil {
			c.Shards[s.name].Rename(fromDB, fromColl, toDB, toColl)
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
	if c.bumpNewest(r); !c.since(8) {
		first := r.chunks[slices.IndexFunc(r.chunks, func(ch *Chunk) bool { return ch.Shard == r.ShardsOwning()[0] })]
		first.Version = r.bumpMajor()
		c.saveChunk(r, first)
	}
	delete(c.tables, from)
	c.writePlacement(from, &r.UUID, c.Timestamp())
	r.NS, r.Epoch, r.Timestamp = to, c.objectID(configServer), c.Timestamp()
	c.tables[r.NS] = r
	c.writePlacement(to, &r.UUID, r.Timestamp, r.ShardsOwning()...)
	c.config.delete("collections", r.record)
	r.record = c.config.insert("collections", c.collectionDocument(r))
	if !c.since(5) {
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
		value.D("newCollMetadata", c.collectionDocument(r)))
}

// notePlacement writes a row of config.placementHistory (7.0) when the set of shards
// that own chunks of a collection has changed.
func (c *Cluster) notePlacement(r *Routing) {
	if !c.since(7) || c.tables[r.NS] != r {
		return
	}
	owners := r.ShardsOwning()
	if set := strings.Join(owners, ","); set != r.newer.lastPlacement {
		r.newer.lastPlacement = set
		c.writePlacement(r.NS, &r.UUID, r.placedAt(), owners...)
	}
}

// placedAt is when the table became as it is: at the last move of a chunk, or when the collection came to be.
func (r *Routing) placedAt() bson.Timestamp {
	at := r.Timestamp
	for _, ch := range r.chunks {
		if len(ch.History) > 0 && older(at, ch.History[0].ValidAfter) {
			at = ch.History[0].ValidAfter
		}
	}
	return at
}

// writePlacement writes the row. A database has no uuid; a dropped namespace has no
// shards.
func (c *Cluster) writePlacement(ns string, uuid *[16]byte, at bson.Timestamp, shards ...string) {
	if !c.since(7) {
		return
	}
	list := bson.A{}
	for _, s := range shards {
		list = append(list, c.release.shardRef(s))
	}
	var id bson.D
	if uuid != nil {
		id = value.D("uuid", uuidValue(*uuid))
	}
	c.config.insert("placementHistory", value.D("_id", c.objectID(configServer), "nss", ns, id, "timestamp", at, "shards", list))
}
