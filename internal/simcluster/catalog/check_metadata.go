package catalog

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// Inconsistency is one result of checkMetadataConsistency.
type Inconsistency struct {
	Type, Description string
	Details           bson.D
}

// CheckMetadata compares the documents of the config database with each other and with
// the data of the shards (7.0, checkMetadataConsistency): for everything when db is
// empty, for one database, or for one collection. The caller holds Mu.
func (c *Cluster) CheckMetadata(db, coll string, indexes bool) []Inconsistency {
	k := &metadataChecker{c: c, chunks: c.readChunks()}
	tables := c.tables
	for _, ns := range sortedKeys(tables) {
		inDB, name, _ := splitNS(ns)
		if db != "" && inDB != db || coll != "" && name != coll {
			continue
		}
		k.checkTable(tables[ns])
		k.checkZones(tables[ns])
		k.checkShardData(tables[ns], indexes)
	}
	for _, s := range c.shards {
		k.misplaced(s.name, db, coll)
	}
	return k.found
}

type metadataChecker struct {
	c      *Cluster
	chunks map[string][]*Chunk // as in config.chunks
	found  []Inconsistency
}

// add adds an inconsistency with its details as in value.D.
func (k *metadataChecker) add(kind, description string, details ...any) {
	k.found = append(k.found, Inconsistency{kind, description, value.D(details...)})
}

// checkTable checks the chunks of a collection.
func (k *metadataChecker) checkTable(r *Routing) {
	list := k.chunks[r.NS]
	of := value.D("namespace", r.NS, "collectionUUID", uuidValue(r.UUID))
	if len(list) == 0 {
		k.add("MissingRoutingTable", "Found a collection without any chunks in the sharding catalog", of)
		return
	}
	slices.SortFunc(list, func(a, b *Chunk) int { return compareKeys(a.Min, b.Min) })
	if db, _, _ := splitNS(r.NS); k.c.dbs[db] == nil {
		k.add("HiddenShardedCollection", "Found a sharded collection in a database that does not exist", of)
	}
	if compareKeys(list[0].Min, r.pattern.min()) != 0 {
		k.add("RoutingTableMissingMinKey", "The first chunk does not begin at the global minimum", of)
	}
	if compareKeys(list[len(list)-1].Max, r.pattern.max()) != 0 {
		k.add("RoutingTableMissingMaxKey", "The last chunk does not end at the global maximum", of)
	}
	for i, ch := range list {
		if ch.History[0].Shard != ch.Shard {
			k.add("CorruptedChunkHistory", "A chunk's newest history entry names another shard", of, "min", ch.Min)
		}
		if _, ok := r.pattern.normalize(ch.Min); !ok {
			k.add("CorruptedChunkShardKey", "A chunk's bounds do not match the shard key", of, "min", ch.Min)
		}
		if i == 0 {
			continue
		}
		between := value.D("range", value.D("min", list[i-1].Max, "max", ch.Min))
		switch d := compareKeys(list[i-1].Max, ch.Min); {
		case d < 0:
			k.add("RoutingTableRangeGap", "Found a gap between two chunks", of, between)
		case d > 0:
			k.add("RoutingTableRangeOverlap", "Found two chunks that overlap", of, between)
		}
	}
	if r.newer.unsplittable && len(list) > 1 {
		k.add("TrackedUnshardedCollectionHasMultipleChunks", "An unsharded collection has more than one chunk", of)
	}
}

// checkZones checks the zone ranges of a collection.
func (k *metadataChecker) checkZones(r *Routing) {
	list := k.c.zones[r.NS]
	for i, z := range list {
		of := value.D("namespace", r.NS, "zone", z.Name, "min", z.Min, "max", z.Max)
		if _, ok := r.pattern.normalize(z.Min); !ok {
			k.add("CorruptedZoneShardKey", "A zone range does not match the shard key", of)
		}
		if i > 0 && compareKeys(list[i-1].Max, z.Min) > 0 {
			k.add("ZonesRangeOverlap", "Found two zone ranges that overlap", of)
		}
	}
}

// checkShardData checks the data of a collection on the shards.
func (k *metadataChecker) checkShardData(r *Routing, indexes bool) {
	specs := make(map[string]int)
	owners := r.ShardsOwning()
	for _, shard := range owners {
		of := value.D("namespace", r.NS, "shard", shard)
		coll := k.c.data(shard, r.NS)
		switch {
		case coll == nil:
			k.add("MissingLocalCollection", "A shard owns chunks of a collection that it does not have", of)
			continue
		case coll.UUID != r.UUID:
			k.add("CollectionUUIDMismatch", "A shard's collection has another uuid than the sharding catalog", of,
				"localUUID", uuidValue(coll.UUID), "UUID", uuidValue(r.UUID))
		}
		if !r.newer.unsplittable && !supports(coll, r.Key) {
			k.add("MissingShardKeyIndex", "A shard has no index that supports the shard key", of, "key", r.Key)
		}
		for _, spec := range coll.Indexes() {
			specs[spec.String()]++
		}
	}
	if !indexes {
		return
	}
	for _, spec := range sortedKeys(specs) {
		if specs[spec] != len(owners) {
			k.add("InconsistentIndex", "Found an index that is not on every shard that owns chunks", "namespace", r.NS,
				"index", spec, "shards", fmt.Sprintf("%d of %d", specs[spec], len(owners)))
		}
	}
}

// misplaced finds unsharded collections that are not on their database's primary shard.
func (k *metadataChecker) misplaced(shard, db, coll string) {
	for _, name := range k.c.Shards[shard].Databases() {
		if db != "" && name != db {
			continue
		}
		for _, at := range k.c.Shards[shard].Colls(name) {
			home, _ := k.c.Home(name, at.Name)
			if coll != "" && at.Name != coll || k.c.Routing(at.NS()) != nil || home == shard {
				continue
			}
			k.add("MisplacedCollection", "Found an unsharded collection on a shard that is not its home",
				"namespace", at.NS(), "shard", shard, "localUUID", uuidValue(at.UUID))
		}
	}
}
