package simcluster

import (
	"context"
	"slices"
	"strings"

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
	raw := bson.D{}
	var objects, bytes, onDisk, indexes, indexBytes, collections int64
	var fsUsed, fsTotal float64
	weighed := int64(0) // mongos knows only the averages of the shards, truncated
	for _, shard := range nodes {
		node := c.catalog.Shards[shard]
		if shard == configShard && (node == nil || r.DB == "config" || r.DB == "admin") {
			node = c.catalog.Config
		}
		var n, size, disk, idx, idxBytes int64
		colls := node.Colls(r.DB)
		for _, coll := range colls {
			n, size, disk = n+int64(coll.Len()), size+coll.Bytes(), disk+storageSize(coll)
			idx, idxBytes = idx+int64(len(coll.Indexes())), idxBytes+totalIndexSize(coll)
		}
		// Every mongod has collections in admin and config that are not simulated.
		used, total := c.disk(shard, len(colls) > 0 || r.DB == "config" || r.DB == "admin", by)
		counted, scaled := number, any(float64(by))
		if c.version.atLeast(8, 0, 0) {
			counted, scaled = func(n int64) any { return n }, by
		}
		raw = append(raw, bson.E{Key: c.catalog.Host(shard), Value: value.D("db", r.DB,
			"collections", counted(int64(len(colls))), "views", counted(0), "objects", counted(n),
			"avgObjSize", ratio(size, n), "dataSize", ratio(size, by), "storageSize", ratio(disk, by),
			"indexes", counted(idx), "indexSize", ratio(idxBytes, by), "totalSize", ratio(disk+idxBytes, by),
			"scaleFactor", scaled, "fsUsedSize", used, "fsTotalSize", total, "ok", 1.0)})
		if n > 0 {
			weighed += size / n * n
		}
		objects, bytes, onDisk = objects+n, bytes+size, onDisk+disk
		indexes, indexBytes, collections = indexes+idx, indexBytes+idxBytes, collections+int64(len(colls))
		if f, ok := used.(float64); ok {
			fsUsed, fsTotal = fsUsed+f, fsTotal+total.(float64)
		}
	}
	if c.version.atLeast(8, 0, 0) {
		return value.D("raw", raw, "db", r.DB, "collections", number(collections), "views", int32(0),
			"objects", number(objects), "avgObjSize", ratio(bytes, objects), "dataSize", ratio(bytes, by),
			"storageSize", ratio(onDisk, by), "indexes", number(indexes), "indexSize", ratio(indexBytes, by),
			"totalSize", ratio(onDisk+indexBytes, by), "scaleFactor", number(by), "fsUsedSize", fsUsed,
			"fsTotalSize", fsTotal), nil
	}
	return value.D("raw", raw, "objects", number(objects), "avgObjSize", ratio(weighed, objects),
		"dataSize", number(bytes/by), "storageSize", number(onDisk/by),
		"totalSize", number((onDisk+indexBytes)/by), "indexes", number(indexes),
		"indexSize", number(indexBytes/by), "scaleFactor", number(by), "fileSize", int32(0)), nil
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
		if n%256 == 0 && ctx.Err() != nil {
			break
		}
	}
	if estimate && coll.Len() > 0 {
		size = n * (coll.Bytes() / int64(coll.Len()))
	}
	return size, n, ctx.Err()
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

// cutHost splits a connection string such as "shard-rs-1/127.0.0.1:27101".
func cutHost(s string) (set, address string, ok bool) { return strings.Cut(s, "/") }
