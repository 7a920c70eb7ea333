package catalog

import (
	"cmp"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// collectionDocument is the row of config.collections, fields in the order of 5.0.7.
func (c *Cluster) collectionDocument(r *Routing) bson.D {
	d := bson.D{
		{Key: "_id", Value: r.NS},
		{Key: "lastmodEpoch", Value: r.Epoch},
		{Key: "lastmod", Value: bson.NewDateTimeFromTime(r.Lastmod)},
	}
	if c.features.tombstones {
		return append(append(d, r.legacyFields()...), r.extra...)
	}
	d = append(d,
		bson.E{Key: "timestamp", Value: r.Timestamp},
		bson.E{Key: "uuid", Value: uuidValue(r.UUID)},
		bson.E{Key: "key", Value: r.Key})
	if r.simple {
		d = append(d, bson.E{Key: "defaultCollation", Value: bson.D{{Key: "locale", Value: "simple"}}})
	}
	d = append(d, bson.E{Key: "unique", Value: r.Unique})
	d = append(d, r.orderedFields()...)
	return append(d, r.extra...)
}

// orderedFields are the fields after unique, in the order in which they were first written.
func (r *Routing) orderedFields() bson.D {
	fields := append(bson.D{{Key: "noBalance", Value: r.NoBalance}}, r.nonDefaultFields()...)
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
		format: c.features, counts: make(map[string]int), written: make(map[bson.ObjectID]int64),
	}
	c.clearTombstone(ns)
	r.record = c.config.insert("collections", c.collectionDocument(r))
	c.routes[ns] = r
	return r
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
	delete(c.routes, r.NS)
	delete(c.tracked, r.NS)
	if zones {
		c.dropZones(r.NS)
	}
}

// reloadCollections reads config.collections again after a client wrote into it:
// noBalance is what clients set there.
func (c *Cluster) reloadCollections() {
	c.config.each("collections", func(id engine.RecordID, doc bson.Raw) {
		ns, _ := doc.Lookup("_id").StringValueOK()
		r := c.table(ns)
		if r == nil {
			return
		}
		r.record = id
		r.readNewerFields(doc)
		r.NoBalance = truthy(doc.Lookup("noBalance"))
		r.Permitted = permitted(doc)
	})
}

// reloadChunks reads config.chunks again after a client wrote into it.
func (c *Cluster) reloadChunks() {
	lists := make(map[string][]*Chunk)
	byUUID := make(map[[16]byte]string)
	for ns, r := range c.tables() {
		byUUID[r.UUID] = ns
	}
	c.config.each("chunks", func(id engine.RecordID, doc bson.Raw) {
		ns, ok := doc.Lookup("ns").StringValueOK()
		if !ok {
			if _, data, ok := doc.Lookup("uuid").BinaryOK(); ok && len(data) == 16 {
				ns = byUUID[[16]byte(data)]
			}
		}
		lists[ns] = append(lists[ns], c.features.parseChunk(id, doc))
	})
	for ns, r := range c.tables() {
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
