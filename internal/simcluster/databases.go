package simcluster

import (
	"context"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

func (c *Cluster) listDatabases(_ context.Context, r *engine.Request) (bson.D, error) {
	filter, err := c.filter(r, "filter")
	if err != nil {
		return nil, err
	}
	mayList, err := c.mayListDatabase(r)
	if err != nil {
		return nil, err
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
	reply := bson.D{{Key: "databases", Value: rows}}
	if !nameOnly {
		reply = append(reply, bson.E{Key: "totalSize", Value: total}, bson.E{Key: "totalSizeMb", Value: total >> 20})
	}
	return reply, nil
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
	return bson.D{
		{Key: "name", Value: name},
		{Key: "sizeOnDisk", Value: total},
		{Key: "empty", Value: total == 0},
		{Key: "shards", Value: parts},
	}, total
}
