package simcluster

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// clusterCatalog are the rows of $listClusterCatalog: the collections of a database, or of all databases if it is asked
// of admin. Of the options only shards is known; the place of its field is assumed. The caller holds catalog.Mu.
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
	r := c.catalog.Routing(ns)
	d := value.D("ns", ns, "db", db, listed[1:], "sharded", r != nil)
	if r != nil {
		d = value.D(d, "shardKey", r.Key)
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
	return d
}

// checkMetadata returns a cursor over metadata inconsistencies: of the whole cluster
// when run on admin, otherwise of one database or one of its collections.
func (c *Cluster) checkMetadata(_ context.Context, r *engine.Request) (bson.D, error) {
	p := c.arguments(r)
	size := p.batch()
	if p.err != nil {
		return nil, p.err
	}
	db, coll := r.DB, ""
	if v := r.Lookup(r.Name); v.Type == bson.TypeString {
		coll = v.StringValue()
	} else if n, ok := wholeNumber(v); !ok || n != 1 {
		return nil, status.Errorf(status.InvalidNamespace, "Command %s takes 1 or the name of a collection", r.Name)
	}
	if db == "admin" {
		if db = ""; coll != "" {
			return nil, status.Errorf(status.InvalidNamespace, "Collection-level mode is not valid on the admin database")
		}
	}
	k := &cursor{ns: r.DB + ".$cmd.aggregate", session: sessionOf(r)}
	if coll != "" && c.version.atLeast(8, 0, 0) {
		k.ns = r.DB + "." + coll
	}
	c.catalog.Mu.RLock()
	for _, found := range c.catalog.CheckMetadata(db, coll, truthy(r.Lookup("checkIndexes"))) {
		k.docs = append(k.docs, encode(value.D("type", found.Type, "description", found.Description,
			"details", found.Details)))
	}
	c.catalog.Mu.RUnlock()
	return c.metadataCursor(k, size)
}
