package simcluster

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// clusterCatalog are the rows of $listClusterCatalog: the collections of a database, or of all databases if it is asked
// of admin. The order of the fields that the options shards and balancingConfiguration add is assumed. The caller holds
// catalog.Mu.
func (c *Cluster) clusterCatalog(db string, options bson.Raw) (rows []bson.Raw) {
	databases := []string{db}
	if db == "admin" {
		databases = append([]string{"config", "admin"}, c.catalog.Databases()...)
	}
	for _, db := range databases {
		node, _ := c.home(db)
		if node == nil {
			continue
		}
		for _, coll := range c.collectionsOf(db, node) {
			for _, row := range seriesRow(coll, collectionRow(coll)) {
				rows = append(rows, encode(c.catalogRow(db, coll, row, options)))
			}
		}
	}
	return rows
}

// catalogRow is the row of one collection, with its row of listCollections given.
func (c *Cluster) catalogRow(db string, coll *engine.Coll, listed bson.D, options bson.Raw) bson.D {
	name, _ := listed[0].Value.(string)
	ns := db + "." + name
	d := append(bson.D{{Key: "ns", Value: ns}, {Key: "db", Value: db}}, listed[1:]...)
	r := c.catalog.Routing(ns)
	d = append(d, bson.E{Key: "sharded", Value: r != nil})
	if r != nil {
		d = append(d, bson.E{Key: "shardKey", Value: r.Key})
	}
	if truthy(value.Field(options, "shards")) {
		shards := []string{}
		if r != nil {
			shards = r.ShardsOwning()
		} else if node, shard := c.homeOfColl(db, coll.Name); node != nil {
			shards = append(shards, shard)
		}
		slices.Sort(shards)
		d = append(d, bson.E{Key: "shards", Value: shards})
	}
	if r != nil && truthy(value.Field(options, "balancingConfiguration")) {
		b := c.catalog.Balancing(r)
		d = append(d, bson.E{Key: "balancingEnabled", Value: b.Enabled && b.Migrations},
			bson.E{Key: "balancingEnabledReason", Value: bson.D{
				{Key: "enableBalancing", Value: b.Enabled}, {Key: "allowMigrations", Value: b.Migrations}}},
			bson.E{Key: "autoMergingEnabled", Value: b.AutoMerge}, bson.E{Key: "chunkSize", Value: float64(b.ChunkBytes) / (1 << 20)})
	}
	return d
}
