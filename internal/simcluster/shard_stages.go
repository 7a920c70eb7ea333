package simcluster

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/pipeline"
	"shardboard/internal/simcluster/engine/value"
)

// shardSources sets the sources of the stages that describe a shard's collection. The
// caller holds catalog.Mu.
func (c *Cluster) shardSources(env *pipeline.Env, t target, s source) {
	env.CollStats = func(spec bson.Raw) pipeline.Docs {
		row, err := c.collStatsRow(t, s, spec)
		return func(yield func(bson.Raw, error) bool) { yield(row, err) }
	}
	env.IndexStats = func(bson.Raw) pipeline.Docs { return pipeline.Of(c.indexStatsRows(s)...) }
}

// indexStatsRows are the $indexStats rows of one shard. Index use is not counted.
func (c *Cluster) indexStatsRows(s source) []bson.Raw {
	if s.coll == nil {
		return nil
	}
	var rows []bson.Raw
	for _, spec := range s.coll.Indexes() {
		rows = append(rows, encode(bson.D{
			{Key: "name", Value: value.Field(spec, "name")},
			{Key: "key", Value: value.Field(spec, "key")},
			{Key: "host", Value: c.address(s.shard)},
			{Key: "accesses", Value: bson.D{
				{Key: "ops", Value: int64(0)},
				{Key: "since", Value: bson.NewDateTimeFromTime(c.opts.Epoch)},
			}},
			{Key: "shard", Value: s.shard},
			{Key: "spec", Value: spec},
		}))
	}
	return rows
}

// distribution are the rows of $shardedDataDistribution: the owned and the orphaned
// documents of each sharded collection on every shard. The caller holds catalog.Mu.
func (c *Cluster) distribution() []bson.Raw {
	var rows []bson.Raw
	for _, ns := range c.catalog.Namespaces() {
		db, coll, _ := cut(ns)
		parts := bson.A{}
		for _, s := range c.everywhere(db, coll).sources {
			figures := storageOf(s.coll, 1)
			orphans := int64(c.catalog.Orphans(ns, s.shard))
			// The order of fields and their types are those of 8.0, assumed of all.
			parts = append(parts, bson.D{
				{Key: "shardName", Value: s.shard},
				{Key: "numOrphanedDocs", Value: number(orphans)},
				{Key: "numOwnedDocuments", Value: number(figures.count - orphans)},
				{Key: "ownedSizeBytes", Value: number((figures.count - orphans) * figures.average)},
				{Key: "orphanedSizeBytes", Value: number(orphans * figures.average)},
			})
		}
		rows = append(rows, encode(bson.D{{Key: "ns", Value: ns}, {Key: "shards", Value: parts}}))
	}
	return rows
}
