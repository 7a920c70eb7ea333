package simcluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/pipeline"
	"shardboard/internal/simcluster/engine/status"
)

// aggregateArgs are the arguments of an aggregate.
type aggregateArgs struct {
	db, coll string // coll is empty for {aggregate: 1}
	ns       string
	stages   []bson.Raw
	env      *expr.Env
	hint     bson.RawValue
	batch    int64
	snapshot bool
}

func (c *Cluster) parseAggregate(r *engine.Request, explain bool) (a aggregateArgs, err error) {
	a.db, a.ns = r.DB, r.DB+".$cmd.aggregate"
	if n, ok := wholeNumber(r.Lookup("aggregate")); !ok || n != 1 {
		if a.db, a.coll, err = namespace(r); err != nil {
			return a, err
		}
		a.ns = a.db + "." + a.coll
	}
	if a.stages, err = pipeline.List(r.Lookup("pipeline")); err != nil {
		return a, err
	}
	if err = simpleCollation(r.Lookup("collation")); err != nil {
		return a, err
	}
	if r.Lookup("cursor").Type != bson.TypeEmbeddedDocument && !explain {
		return a, status.Errorf(status.FailedToParse, "The 'cursor' option is required, except for aggregate with the explain argument")
	}
	if a.batch, err = cursorBatch(r); err != nil {
		return a, err
	}
	if a.batch < 0 {
		a.batch = firstBatch
	}
	if a.env, err = c.environment(r); err != nil {
		return a, err
	}
	a.hint, a.snapshot = r.Lookup("hint"), readsSnapshot(r)
	return a, nil
}

func (c *Cluster) aggregate(ctx context.Context, r *engine.Request) (bson.D, error) {
	if truthy(r.Lookup("explain")) {
		return c.explainAggregate(ctx, r, r, false)
	}
	a, err := c.parseAggregate(r, false)
	if err != nil {
		return nil, err
	}
	opened := c.catalog.Now()
	docs, single, err := c.runAggregate(ctx, a)
	if err != nil {
		return nil, err
	}
	k := &cursor{ns: a.ns, docs: docs, session: sessionOf(r)}
	if single {
		// A reply that one shard produced alone has the shard's field order.
		reply, err := c.metadataCursor(k, a.batch)
		c.standOnShards(ctx, k, r, opened)
		return reply, err
	}
	reply, err := c.firstBatchReply(k, a.batch, false)
	if err != nil {
		return nil, err
	}
	c.standOnShards(ctx, k, r, opened)
	if a.snapshot {
		reply = append(reply, bson.E{Key: "atClusterTime", Value: c.catalog.LastTimestamp()})
	}
	return bson.D{{Key: "cursor", Value: reply}}, nil
}

// runAggregate returns all results; single means that one shard of a sharded collection
// ran the whole pipeline.
func (c *Cluster) runAggregate(ctx context.Context, a aggregateArgs) (docs []bson.Raw, single bool, err error) {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	stream, single, err := c.stream(ctx, a)
	if err != nil {
		return nil, false, err
	}
	for doc, err := range stream {
		if err != nil {
			return nil, false, err
		}
		docs = append(docs, doc)
		if len(docs)%256 == 0 && ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
	}
	return docs, single, ctx.Err()
}
