package catalog

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// newerFields are the fields of config.collections that versions after 5.0 added.
type newerFields struct {
	maxBytes      int64         // 6.0: maxChunkSizeBytes, 0 for the cluster's
	defragment    defragmenting // 6.0: phase of the defragmentation
	noAutoMerge   bool          // 7.0: enableAutoMerge: false
	unsplittable  bool          // 8.0: unsharded but tracked
	lastPlacement string        // 7.0: the shards of the last row of config.placementHistory
	series        bson.Raw      // 5.1: the options of a time series, of which these are the buckets
	order         []string      // of the fields after unique, as far as it is known
}

// legacyFields are the fields of a collection document in 4.4: no timestamp, and
// noBalance only when it is set.
func (r *Routing) legacyFields() bson.D {
	d := bson.D{
		{Key: "dropped", Value: false},
		{Key: "key", Value: r.Key},
		{Key: "unique", Value: r.Unique},
		{Key: "uuid", Value: uuidValue(r.UUID)},
		{Key: "distributionMode", Value: "sharded"},
	}
	if r.NoBalance {
		d = append(d, bson.E{Key: "noBalance", Value: true})
	}
	return d
}

// nonDefaultFields are the newer fields that differ from their defaults.
func (r *Routing) nonDefaultFields() bson.D {
	var d bson.D
	if !r.Permitted {
		d = append(d, bson.E{Key: "permitMigrations", Value: false})
	}
	if r.newer.maxBytes > 0 {
		d = append(d, bson.E{Key: "maxChunkSizeBytes", Value: r.newer.maxBytes})
	}
	if p := r.newer.defragment; p != notDefragmenting {
		d = append(d, bson.E{Key: "defragmentCollection", Value: true}, bson.E{Key: "defragmentationPhase", Value: p.String()})
	}
	if r.newer.noAutoMerge {
		d = append(d, bson.E{Key: "enableAutoMerge", Value: false})
	}
	if r.newer.unsplittable {
		d = append(d, bson.E{Key: "unsplittable", Value: true})
	}
	if r.newer.series != nil {
		d = append(d, bson.E{Key: "timeseriesFields", Value: r.newer.series})
	}
	return d
}

// readNewerFields reads the newer fields that clients set by writing to
// config.collections.
func (r *Routing) readNewerFields(doc bson.Raw) {
	if r.format.autoMerge {
		v := doc.Lookup("enableAutoMerge")
		r.newer.noAutoMerge = v.Type == bson.TypeBoolean && !v.Boolean()
	}
}

// permitted reports whether a document permits migrations: what setAllowMigrations wrote. A resharding forbids them by
// another field.
func permitted(doc bson.Raw) bool {
	v := doc.Lookup("permitMigrations")
	return v.Type != bson.TypeBoolean || v.Boolean()
}

// bumpNewest increases the version of the newest chunk, by which 8.0 tells routers and shards that something of the
// collection's document has changed.
func (c *Cluster) bumpNewest(r *Routing) {
	if !c.features.observed8 {
		return
	}
	ch := r.newest()
	ch.Version = r.bumpMinor()
	c.saveChunk(r, ch)
}

// removeCollectionDocument removes a collection's document; 4.4 keeps it as a tombstone
// with an empty epoch.
func (c *Cluster) removeCollectionDocument(r *Routing) {
	c.config.delete("collections", r.record)
	if !c.features.tombstones {
		return
	}
	c.clearTombstone(r.NS)
	c.tombs[r.NS] = c.config.insert("collections", bson.D{
		{Key: "_id", Value: r.NS}, {Key: "lastmodEpoch", Value: bson.ObjectID{}},
		{Key: "lastmod", Value: bson.NewDateTimeFromTime(c.Now().Truncate(time.Millisecond))},
		{Key: "dropped", Value: true},
	})
}

// clearTombstone removes the tombstone of a name that is used again.
func (c *Cluster) clearTombstone(ns string) {
	if id, ok := c.tombs[ns]; ok {
		c.config.delete("collections", id)
		delete(c.tombs, ns)
	}
}

// table is the routing table of a collection with a document in config.collections,
// sharded or only tracked; nil without one.
func (c *Cluster) table(ns string) *Routing {
	if r := c.routes[ns]; r != nil {
		return r
	}
	return c.tracked[ns]
}

// tables returns all routing tables by namespace.
func (c *Cluster) tables() map[string]*Routing {
	all := make(map[string]*Routing, len(c.routes)+len(c.tracked))
	for ns, r := range c.tracked {
		all[ns] = r
	}
	for ns, r := range c.routes {
		all[ns] = r
	}
	return all
}

// setTable adds or replaces the routing table of a namespace.
func (c *Cluster) setTable(r *Routing) {
	delete(c.routes, r.NS)
	delete(c.tracked, r.NS)
	if r.newer.unsplittable {
		c.tracked[r.NS] = r
	} else {
		c.routes[r.NS] = r
	}
}

// Home is the shard of an unsharded collection: the database's primary, unless the
// collection is tracked on another shard. ok is false if the database does not exist.
// The caller holds Mu.
func (c *Cluster) Home(db, coll string) (shard string, ok bool) {
	if r := c.tracked[db+"."+coll]; r != nil {
		return r.chunks[0].Shard, true
	}
	return c.Primary(db)
}

// Tracked are the unsharded collections that have a document, sorted. The caller holds
// Mu.
func (c *Cluster) Tracked() []string { return sortedKeys(c.tracked) }
