package simcluster

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Default disk figures: nearly empty, so that no disk warning appears.
const (
	diskTotal = 270_553_174_016
	diskUsed  = 54_110_634_803
)

// disk has the file system figures of a shard. A shard without data of the database
// reports zeros (commands/dbcommands.cpp).
func (c *Cluster) disk(shard string, there bool, by int64) (used, total any) {
	if !there {
		return int32(0), int32(0)
	}
	u, t := int64(diskUsed), int64(diskTotal)
	if c.opts.Disk != nil {
		u, t = c.opts.Disk(shard)
	}
	return ratio(u, by), ratio(t, by)
}

func (c *Cluster) dbStats(_ context.Context, r *engine.Request) (bson.D, error) {
	by, err := scale(r)
	if err != nil {
		return nil, err
	}
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	nodes := c.catalog.ShardNames()
	if r.DB == "config" || r.DB == "admin" {
		if !slices.Contains(nodes, configShard) {
			nodes = append(nodes, configShard)
		}
	}
	is8 := c.version.atLeast(8, 0, 0)
	counted, scaled := number, any(float64(by)) // in the part of a shard
	if is8 {
		counted, scaled = func(n int64) any { return n }, by
	}
	raw, sum, weighed := bson.D{}, databaseSize{}, int64(0) // mongos knows only the averages of the shards, truncated
	var fsUsed, fsTotal float64
	for _, shard := range nodes {
		node := c.catalog.Shards[shard]
		if shard == configShard && (node == nil || r.DB == "config" || r.DB == "admin") {
			node = c.catalog.Config
		}
		one := databaseSize{}
		for _, coll := range node.Colls(r.DB) {
			one.add(databaseSize{1, int64(coll.Len()), coll.Bytes(), storageSize(coll), int64(len(coll.Indexes())), totalIndexSize(coll)})
		}
		sum.add(one)
		if one.objects > 0 {
			weighed += one.bytes / one.objects * one.objects
		}
		// Every mongod has collections in admin and config that are not simulated.
		used, total := c.disk(shard, one.collections > 0 || r.DB == "config" || r.DB == "admin", by)
		raw = append(raw, bson.E{Key: c.catalog.Host(shard), Value: value.D(one.document(r.DB, by, counted, scaled),
			"fsUsedSize", used, "fsTotalSize", total, "ok", 1.0)})
		if f, ok := used.(float64); ok {
			fsUsed, fsTotal = fsUsed+f, fsTotal+total.(float64)
		}
	}
	if is8 {
		return value.D("raw", raw, sum.document(r.DB, by, number, number(by)), "fsUsedSize", fsUsed, "fsTotalSize", fsTotal), nil
	}
	return value.D("raw", raw, "objects", number(sum.objects), "avgObjSize", ratio(weighed, sum.objects),
		"dataSize", number(sum.bytes/by), "storageSize", number(sum.onDisk/by),
		"totalSize", number((sum.onDisk+sum.indexBytes)/by), "indexes", number(sum.indexes),
		"indexSize", number(sum.indexBytes/by), "scaleFactor", number(by), "fileSize", int32(0)), nil
}

// databaseSize is what a database has on one shard or on all.
type databaseSize struct {
	collections, objects, bytes, onDisk, indexes, indexBytes int64
}

func (d *databaseSize) add(o databaseSize) {
	d.collections, d.objects, d.bytes = d.collections+o.collections, d.objects+o.objects, d.bytes+o.bytes
	d.onDisk, d.indexes, d.indexBytes = d.onDisk+o.onDisk, d.indexes+o.indexes, d.indexBytes+o.indexBytes
}

// document shows the figures; counted is how it shows those that are not divided by the scale.
func (d databaseSize) document(db string, by int64, counted func(int64) any, scaled any) bson.D {
	return value.D("db", db, "collections", counted(d.collections), "views", counted(0), "objects", counted(d.objects),
		"avgObjSize", ratio(d.bytes, d.objects), "dataSize", ratio(d.bytes, by), "storageSize", ratio(d.onDisk, by),
		"indexes", counted(d.indexes), "indexSize", ratio(d.indexBytes, by), "totalSize", ratio(d.onDisk+d.indexBytes, by),
		"scaleFactor", scaled)
}

// ratio is a/b, or 0 when b is 0.
func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// dataSize measures a range of the shard key, or a whole collection, on all shards that
// own chunks, orphans included (s/commands/cluster_data_size_cmd.cpp).
func (c *Cluster) dataSize(ctx context.Context, r *engine.Request) (bson.D, error) {
	db, coll, err := fullNamespace(r)
	if err != nil {
		return nil, err
	}
	p := c.arguments(r)
	pattern, lo, hi := p.document("keyPattern"), p.document("min"), p.document("max")
	if (lo == nil) != (hi == nil) {
		p.keep(status.Errorf(status.BadValue, "only one of min or max specified"))
	}
	if p.err != nil {
		return nil, p.err
	}
	estimate := truthy(r.Lookup("estimate"))
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	t := c.everywhere(db, coll)
	if t.routing != nil {
		if err := wholeKeys(t, pattern, lo, hi); err != nil {
			return nil, err
		}
		pattern = t.routing.Key
	} else if len(pattern) <= 5 {
		pattern = value.Ascending(lo)
	}
	var size, objects float64
	for _, s := range t.sources {
		if s.coll == nil {
			continue
		}
		bytes, n, err := rangeSize(ctx, s.coll, pattern, lo, hi, estimate)
		if err != nil {
			return nil, err
		}
		size, objects = size+float64(bytes), objects+float64(n)
	}
	if c.version.atLeast(8, 0, 0) {
		return value.D("size", int64(size), "numObjects", int64(objects), "millis", int64(0)), nil
	}
	return value.D("size", size, "numObjects", objects, "millis", int32(0)), nil
}

func rangeSize(ctx context.Context, coll *engine.Coll, pattern, lo, hi bson.Raw, estimate bool) (size, n int64, err error) {
	if lo == nil {
		return coll.Bytes(), int64(coll.Len()), nil
	}
	for _, doc := range coll.Range(pattern, lo, hi) {
		n++
		size += int64(len(doc))
		if n%256 == 0 && engine.Over(ctx) != nil {
			break
		}
	}
	if estimate && coll.Len() > 0 {
		size = n * (coll.Bytes() / int64(coll.Len()))
	}
	return size, n, engine.Over(ctx)
}

// wholeKeys checks that pattern and bounds are those of the shard key.
func wholeKeys(t target, pattern, lo, hi bson.Raw) error {
	if len(pattern) > 5 && value.CompareDocs(pattern, t.routing.Key) != 0 {
		return status.Errorf(status.BadValue, "keyPattern must be empty or must be an object that equals the shard key")
	}
	ends := []bson.Raw{lo, hi}
	for i, name := range []string{"min", "max"} {
		for _, f := range t.routing.FieldNames() {
			if ends[i] != nil && !hasKey(ends[i], f) {
				return status.Errorf(status.BadValue, "%s value %s does not have shard key", name, shellText(ends[i]))
			}
		}
	}
	return nil
}
