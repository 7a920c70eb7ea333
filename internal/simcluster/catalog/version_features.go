package catalog

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// release is the simulated server version, by which the metadata's formats and behaviours differ, and how its documents
// name shards. docs/simcluster.md lists what is assumed; what 8.0 is asked for is as recorded from 8.0.10.
type release struct {
	Release
	// refs are the uuids of the shards; nil: documents name them by name. Development versions after 8.0 let them name a
	// shard by its uuid: config.chunks.shard and history, config.databases.primary, config.placementHistory.shards
	// (db/global_catalog/shard_ref.cpp).
	refs map[string][16]byte
}

// since reports whether it is a major version or a newer one.
func (r release) since(major int) bool { return r.AtLeast(major, 0, 0) }

func (c *Cluster) since(major int) bool { return c.release.since(major) }

// Release is a server version: major, minor and patch.
type Release [3]int

// AtLeast reports whether the release is this one or a newer one.
func (r Release) AtLeast(major, minor, patch int) bool {
	want := Release{major, minor, patch}
	return slices.Compare(r[:], want[:]) >= 0
}

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

// nonDefaultFields are the newer fields that differ from their defaults.
func (r *Routing) nonDefaultFields() bson.D {
	f := r.newer
	return value.D(value.When(!r.Permitted, "permitMigrations", false), value.When(f.maxBytes > 0, "maxChunkSizeBytes", f.maxBytes),
		value.When(f.defragment != notDefragmenting, "defragmentCollection", true, "defragmentationPhase", f.defragment.String()),
		value.When(f.noAutoMerge, "enableAutoMerge", false), value.When(f.unsplittable, "unsplittable", true),
		value.When(f.series != nil, "timeseriesFields", f.series))
}

// bumpNewest increases the version of the newest chunk, by which 8.0 tells routers and shards that something of the
// collection's document has changed.
func (c *Cluster) bumpNewest(r *Routing) {
	if !c.since(8) {
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
	if c.since(5) {
		return
	}
	c.clearTombstone(r.NS)
	c.tombs[r.NS] = c.config.insert("collections", value.D("_id", r.NS, "lastmodEpoch", bson.ObjectID{},
		"lastmod", bson.NewDateTimeFromTime(c.Now().Truncate(time.Millisecond)), "dropped", true))
}

// clearTombstone removes the tombstone of a name that is used again.
func (c *Cluster) clearTombstone(ns string) {
	if id, ok := c.tombs[ns]; ok {
		c.config.delete("collections", id)
		delete(c.tombs, ns)
	}
}

// unsharded is the table of a collection that is only tracked (8.0), or nil.
func (c *Cluster) unsharded(ns string) *Routing {
	if r := c.tables[ns]; r != nil && r.newer.unsplittable {
		return r
	}
	return nil
}

// Home is the shard of an unsharded collection: the database's primary, unless the
// collection is tracked on another shard. ok is false if the database does not exist.
// The caller holds Mu.
func (c *Cluster) Home(db, coll string) (shard string, ok bool) {
	if r := c.unsharded(db + "." + coll); r != nil {
		return r.chunks[0].Shard, true
	}
	return c.Primary(db)
}

// Tracked are the unsharded collections that have a document, sorted. The caller holds
// Mu.
func (c *Cluster) Tracked() []string { return c.namespaces(true) }

// versionFields is a chunk version in log entries: up to 5.0 separate fields for
// version, epoch and timestamp (4.4 has no timestamps), from 6.0 one document with v, e
// and t (s/chunk_version.cpp, serialize).
func (r *Routing) versionFields(name string, v bson.Timestamp) bson.D {
	if r.release.since(6) {
		return value.D(name, value.D("e", r.Epoch, "t", r.Timestamp, "v", v))
	}
	return value.D(name, v, name+"Epoch", r.Epoch, value.When(r.release.since(5), name+"Timestamp", r.Timestamp))
}

// logMerged writes the log entry of a merge since 6.0: the new chunk and the number of
// merged chunks.
func (c *Cluster) logMerged(what string, r *Routing, owner string, merged *Chunk, before bson.Timestamp, parts int) {
	c.logChange(configServer, what, r.NS, value.D(r.versionFields("prevPlacementVersion", before),
		r.versionFields("mergedVersion", merged.Version), "owningShard", owner, "min", merged.Min, "max", merged.Max,
		"numChunks", int32(parts)))
}

// mergedSince is the validAfter of a merged chunk: now, or from 7.0 the newest one of
// the parts.
func (c *Cluster) mergedSince(parts []*Chunk) bson.Timestamp {
	if !c.since(7) {
		return c.Timestamp()
	}
	var newest bson.Timestamp
	for _, ch := range parts {
		if at := ch.History[0].ValidAfter; older(newest, at) {
			newest = at
		}
	}
	return newest
}
