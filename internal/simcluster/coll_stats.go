package simcluster

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// scale reads the scale argument of the statistics commands: how many bytes are
// one unit.
func scale(r *engine.Request) (int64, error) {
	v := r.Lookup("scale")
	if v.Type == 0 || v.Type == bson.TypeNull {
		return 1, nil
	}
	n, ok := wholeNumber(v)
	if !ok {
		return 0, wrongType(r.Name+".scale", v, "long")
	}
	if n < 1 {
		return 0, status.Errorf(51024, "BSON field 'scale' value must be >= 1, actual value '%d'", n)
	}
	return n, nil
}

// collStats sums the shards' statistics. Like a mongos it answers zeros for a
// collection that does not exist, and counts orphans.
func (c *Cluster) collStats(_ context.Context, r *engine.Request, db, coll string) (bson.D, error) {
	by, err := scale(r)
	if err != nil {
		return nil, err
	}
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	t := c.everywhere(db, coll)
	var sum storage
	weighed := int64(0) // mongos knows only the rounded averages of the shards
	shards, sizes, exists := bson.D{}, map[string]int64{}, false
	for _, s := range t.sources {
		one := storageOf(s.coll, by)
		sum.size, sum.count = sum.size+one.size, sum.count+one.count
		sum.onDisk, sum.indexes = sum.onDisk+one.onDisk, sum.indexes+one.indexes
		weighed += one.average * one.count
		for _, name := range one.names {
			if _, seen := sizes[name]; !seen {
				sum.names = append(sum.names, name)
			}
			sizes[name] += one.each
		}
		exists = exists || s.coll != nil
		shards = value.D(shards, s.shard, value.D("ns", t.ns, one.fields(s.coll != nil, by, c.orphans(t, s)), "ok", 1.0))
	}
	var primary bson.D
	chunks := 1
	if t.routing != nil {
		chunks = t.routing.Len()
	} else if len(t.sources) > 0 {
		primary = value.D("primary", t.sources[0].shard)
	}
	indexSizes := bson.D{}
	for _, name := range sum.names {
		indexSizes = append(indexSizes, bson.E{Key: name, Value: number(sizes[name])})
	}
	return value.D("sharded", t.routing != nil, primary, value.When(exists, "capped", false), "indexDetails", bson.D{},
		"ns", t.ns, "count", number(sum.count), "size", number(sum.size), "storageSize", number(sum.onDisk),
		"totalIndexSize", number(sum.indexes), "totalSize", number(sum.onDisk+sum.indexes), "indexSizes", indexSizes,
		"avgObjSize", ratio(weighed, sum.count), "maxSize", int64(0), "nindexes", int32(len(sum.names)),
		"scaleFactor", number(by), "nchunks", int32(chunks), "shards", shards), nil
}

// orphans counts a shard's orphaned documents where the version reports them, from
// 6.0 on; -1 before.
func (c *Cluster) orphans(t target, s source) int64 {
	if !c.version.atLeast(6, 0, 0) {
		return -1
	}
	if t.routing == nil {
		return 0
	}
	return int64(c.catalog.Orphans(t.ns, s.shard))
}

// collStatsRow is what one shard answers to a $collStats stage. The caller holds
// catalog.Mu.
func (c *Cluster) collStatsRow(t target, s source, spec bson.Raw) (bson.Raw, error) {
	row := value.D("ns", t.ns, "shard", s.shard, "host", addressOf(c.catalog, s.shard),
		"localTime", bson.NewDateTimeFromTime(c.catalog.Now()))
	if hasKey(spec, "latencyStats") {
		l := c.stats.latencyOf(s.shard, t.ns)
		is8 := c.version.atLeast(8, 0, 0)
		kind := func(micros, ops int64) bson.D {
			return value.D("latency", micros, "ops", ops, value.When(is8, "queryableEncryptionLatencyMicros", int64(0)))
		}
		row = value.D(row, "latencyStats", value.D(value.When(is8, "commands", kind(0, 0)), "reads", kind(l.readMicros, l.reads),
			"writes", kind(l.writeMicros, l.writes), value.When(!is8, "commands", kind(0, 0)), "transactions", kind(0, 0)))
	}
	if v := value.Field(spec, "storageStats"); v.Type != 0 {
		by := int64(1)
		if d, ok := v.DocumentOK(); ok {
			if n, ok := wholeNumber(value.Field(d, "scale")); ok && n > 0 {
				by = n
			}
		}
		stats := storageOf(s.coll, by).fields(s.coll != nil, by, c.orphans(t, s))
		row = append(row, bson.E{Key: "storageStats", Value: seriesStats(s.coll, stats)})
	}
	if hasKey(spec, "count") {
		if s.coll == nil {
			return nil, status.Errorf(status.NamespaceNotFound,
				"Unable to retrieve count in $collStats stage :: caused by :: Collection [%s] not found.", t.ns)
		}
		row = append(row, bson.E{Key: "count", Value: number(int64(s.coll.Len()))})
	}
	return encode(row), nil
}

// addressOf is how a shard's member names itself: by its host name, which may differ from
// the address in config.shards.
func addressOf(c *catalog.Cluster, shard string) string {
	_, member, _ := strings.Cut(c.Host(shard), "/")
	_, port, ok := strings.Cut(member, ":")
	if !ok {
		return shard
	}
	return hostname + ":" + port
}

// page is the allocation unit of the storage engine in bytes.
const page = 4096

// storageSize estimates a collection's size on disk: compressed to about a third, in
// whole pages, at least one.
func storageSize(coll *engine.Coll) int64 { return pages(coll.Bytes() / 3) }

// indexSize estimates the size of an index: about 20 bytes an entry after prefix
// compression.
func indexSize(coll *engine.Coll) int64 { return pages(int64(coll.Len()) * 20) }

func totalIndexSize(coll *engine.Coll) int64 {
	return indexSize(coll) * int64(len(coll.Indexes()))
}

func pages(n int64) int64 { return max(1, (n+page-1)/page) * page }

// storage has the sizes of a collection on one shard, divided by scale.
type storage struct {
	size, count, average, onDisk, indexes int64
	names                                 []string
	each                                  int64 // size of every index
}

func storageOf(coll *engine.Coll, scale int64) storage {
	if coll == nil {
		return storage{}
	}
	s := storage{
		size: coll.Bytes() / scale, count: int64(coll.Len()),
		onDisk: storageSize(coll) / scale, indexes: totalIndexSize(coll) / scale,
		each: indexSize(coll) / scale,
	}
	if s.count > 0 {
		s.average = coll.Bytes() / s.count
	}
	for _, spec := range coll.Indexes() {
		name, _ := value.Field(spec, "name").StringValueOK()
		s.names = append(s.names, name)
	}
	return s
}

func (s storage) indexSizes() bson.D {
	d := make(bson.D, 0, len(s.names))
	for _, name := range s.names {
		d = append(d, bson.E{Key: name, Value: number(s.each)})
	}
	return d
}

// fields are the storage statistics in the reply of one shard. orphans is negative on
// versions that do not report them.
func (s storage) fields(exists bool, scale, orphans int64) bson.D {
	d := value.D("size", number(s.size), "count", number(s.count),
		value.When(s.count > 0 && exists, "avgObjSize", number(s.average)),
		value.When(orphans >= 0, "numOrphanDocs", number(orphans)))
	if !exists {
		return value.D(d, "storageSize", int32(0), "totalSize", int32(0), "nindexes", int32(0), "totalIndexSize", int32(0),
			"indexDetails", bson.D{}, "indexSizes", bson.D{}, "scaleFactor", number(scale))
	}
	total := number(s.onDisk + s.indexes)
	return value.D(d, "storageSize", number(s.onDisk), "freeStorageSize", int32(0), "capped", false,
		"nindexes", int32(len(s.names)), "indexDetails", bson.D{}, "indexBuilds", bson.A{},
		"totalIndexSize", number(s.indexes), value.When(orphans < 0, "totalSize", total), "indexSizes", s.indexSizes(),
		value.When(orphans >= 0, "totalSize", total), // the order of 8.0, assumed of 6.0 on
		"scaleFactor", number(scale))
}
