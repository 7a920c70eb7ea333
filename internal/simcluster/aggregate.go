package simcluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/pipeline"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
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
	p := c.arguments(r)
	a.db, a.ns = r.DB, r.DB+".$cmd.aggregate"
	if n, ok := wholeNumber(r.Lookup("aggregate")); !ok || n != 1 {
		a.db, a.coll = p.namespace()
		a.ns = a.db + "." + a.coll
	}
	a.stages, err = pipeline.List(r.Lookup("pipeline"))
	p.keep(err)
	if r.Lookup("cursor").Type != bson.TypeEmbeddedDocument && !explain {
		p.keep(status.Errorf(status.FailedToParse, "The 'cursor' option is required, except for aggregate with the explain argument"))
	}
	if a.batch = p.batch(); a.batch < 0 {
		a.batch = firstBatch
	}
	a.env, a.hint, a.snapshot = p.env, r.Lookup("hint"), readsSnapshot(r)
	return a, p.err
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
	reply = value.D(reply, value.When(a.snapshot, "atClusterTime", c.catalog.LastTimestamp()))
	return value.D("cursor", reply), nil
}

// runAggregate returns all results; single means that one shard of a sharded collection
// ran the whole pipeline.
func (c *Cluster) runAggregate(ctx context.Context, a aggregateArgs) (docs []bson.Raw, single bool, err error) {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	if count := c.many.counted(a); count != nil {
		return []bson.Raw{count}, true, nil
	}
	stream, single, err := c.stream(ctx, a)
	if err != nil {
		return nil, false, err
	}
	for doc, err := range stream {
		if err != nil {
			return nil, false, err
		}
		docs = append(docs, doc)
		if len(docs)%256 == 0 {
			if err := engine.Over(ctx); err != nil {
				return nil, false, err
			}
		}
	}
	return docs, single, engine.Over(ctx)
}

// stream starts a pipeline: completely on the only targeted shard, or its first part on
// each shard and the rest on mongos. The caller holds catalog.Mu until the stream is
// read.
func (c *Cluster) stream(ctx context.Context, a aggregateArgs) (docs pipeline.Docs, single bool, err error) {
	env := c.pipelineEnv(ctx, a)
	whole, err := pipeline.Compile(a.stages, env)
	if err != nil {
		return nil, false, err
	}
	parts := pipeline.Split(a.stages)
	if parts.RouterOnly {
		docs, err = parts.Combine(nil, env)
		// The config server alone runs these, so that its reply is passed on (seen on 8.0.10).
		first := pipeline.First(a.stages)
		return docs, c.version.atLeast(8, 0, 0) && (first == "$shardedDataDistribution" || first == "$listClusterCatalog"), err
	}
	if a.coll == "" {
		return nil, false, status.Errorf(status.InvalidNamespace,
			"{aggregate: 1} is not valid for '%s'; a collection is required.", pipeline.First(a.stages))
	}
	lead, _ := pipeline.LeadingMatch(a.stages)
	filter, err := query.Parse(lead, a.env)
	if err != nil {
		return nil, false, err
	}
	t, err := c.transactions.seenBy(transactionOf(ctx), c.target(a.db, a.coll, filter))
	if err != nil {
		return nil, false, err
	}
	if !parts.PerShard {
		begin := time.Now()
		defer func() { docs = c.timedStream(t, begin, docs) }()
	}
	switch {
	case len(t.sources) == 0:
		return whole.Run(pipeline.Of()), false, nil
	case len(t.sources) == 1:
		docs, err = c.shardStream(ctx, a, t, t.sources[0], a.stages)
		return docs, t.routing != nil || c.version.atLeast(8, 0, 0), err
	}
	streams := make([]pipeline.Docs, len(t.sources))
	for i, s := range t.sources {
		if streams[i], err = c.shardStream(ctx, a, t, s, parts.Shard); err != nil {
			return nil, false, err
		}
	}
	docs, err = parts.Combine(streams, env)
	return docs, false, err
}

// timedStream adds an aggregation to the latencies of its shards after it was read.
func (c *Cluster) timedStream(t target, begin time.Time, docs pipeline.Docs) pipeline.Docs {
	return func(yield func(bson.Raw, error) bool) {
		defer c.timed(t, false, begin)
		docs(yield)
	}
}

// shardStream runs stages over one shard's documents; the leading $match and $sort are
// run by the engine with its indexes.
func (c *Cluster) shardStream(ctx context.Context, a aggregateArgs, t target, s source, stages []bson.Raw) (pipeline.Docs, error) {
	env := c.pipelineEnv(ctx, a)
	c.shardSources(env, t, s)
	if first := pipeline.First(stages); first == "$collStats" || first == "$indexStats" {
		docs, err := pipeline.Run(stages, nil, env)
		return wrapExecutionErrors(docs), err
	}
	lead := pipeline.Leading(stages)
	in := pipeline.Of()
	if s.coll != nil {
		filter, err := query.Parse(lead.Filter, a.env)
		if err != nil {
			return nil, err
		}
		in = documents(s.coll.Query(ctx, engine.Query{
			Filter: filter, Sort: lead.Sort, Skip: lead.Skip, Limit: lead.Limit, Hint: a.hint, Owned: s.owned,
		}))
	}
	docs, err := pipeline.Run(lead.Rest, in, env)
	return wrapExecutionErrors(docs), err
}

// wrapExecutionErrors prefixes errors that occur while a shard runs the pipeline, as a
// shard does.
func wrapExecutionErrors(docs pipeline.Docs) pipeline.Docs {
	return func(yield func(bson.Raw, error) bool) {
		for doc, err := range docs {
			var e *status.Error
			if errors.As(err, &e) && !strings.HasPrefix(e.Message, executionError) {
				err = status.Context(executionError, err)
			}
			if !yield(doc, err) {
				return
			}
		}
	}
}

// executionError begins the text of those errors.
const executionError = "PlanExecutor error during aggregation"

// documents streams an engine cursor.
func documents(cur *engine.Cursor) pipeline.Docs {
	return func(yield func(bson.Raw, error) bool) {
		for _, doc := range cur.All() {
			if !yield(doc, nil) {
				return
			}
		}
		if err := cur.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// pipelineEnv is the environment of stages that run on mongos.
func (c *Cluster) pipelineEnv(ctx context.Context, a aggregateArgs) *pipeline.Env {
	empty := func(bson.Raw) pipeline.Docs { return pipeline.Of() }
	env := &pipeline.Env{
		Expr: *a.env, DB: a.db,
		Rand: rand.New(rand.NewPCG(uint64(c.opts.Seed), uint64(c.stats.requests.Load()))),
		Lookup: func(db, coll string, stages []bson.Raw, vars map[string]bson.RawValue) pipeline.Docs {
			return c.runJoinedPipeline(ctx, a, db, coll, stages, vars)
		},
		CollStats: empty, IndexStats: empty,
		CurrentOp: func(of bson.Raw) pipeline.Docs {
			if local, _ := of.Lookup("localOps").BooleanOK(); local {
				// What mongos itself is doing: here the commands that a fault delays.
				return pipeline.Of(append([]bson.Raw{c.currentOpRow(a.ns)}, c.faults.inflightRows(false)...)...)
			}
			rows := c.currentOpRows(a.ns)
			if idle, _ := of.Lookup("idleCursors").BooleanOK(); idle {
				rows = append(rows, c.idleCursors(c.catalog.Now())...)
			}
			return pipeline.Of(rows...)
		},
	}
	if c.version.atLeast(6, 0, 3) {
		env.DataDistribution = func(bson.Raw) pipeline.Docs { return pipeline.Of(c.distribution()...) }
	}
	if c.version.atLeast(8, 0, 10) {
		env.ClusterCatalog = func(of bson.Raw) pipeline.Docs { return pipeline.Of(c.clusterCatalog(a.db, of)...) }
	}
	return env
}

// runJoinedPipeline runs the pipeline of a $lookup or $unionWith under the same lock.
func (c *Cluster) runJoinedPipeline(ctx context.Context, a aggregateArgs, db, coll string, stages []bson.Raw,
	vars map[string]bson.RawValue) pipeline.Docs {
	if docs, ok := c.many.joined(db, coll, vars); ok {
		return docs
	}
	env := *a.env
	env.Vars = vars
	docs, _, err := c.stream(ctx, aggregateArgs{db: db, coll: coll, ns: db + "." + coll, stages: stages, env: &env})
	if err != nil {
		return func(yield func(bson.Raw, error) bool) { yield(nil, err) }
	}
	return docs
}

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
		rows = append(rows, encode(value.D("name", value.Field(spec, "name"), "key", value.Field(spec, "key"),
			"host", addressOf(c.catalog, s.shard),
			"accesses", value.D("ops", int64(0), "since", bson.NewDateTimeFromTime(c.opts.Epoch)), "shard", s.shard,
			"spec", spec)))
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
			parts = append(parts, value.D("shardName", s.shard, "numOrphanedDocs", number(orphans),
				"numOwnedDocuments", number(figures.count-orphans),
				"ownedSizeBytes", number((figures.count-orphans)*figures.average),
				"orphanedSizeBytes", number(orphans*figures.average)))
		}
		rows = append(rows, encode(value.D("ns", ns, "shards", parts)))
	}
	return rows
}
