package simcluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/pipeline"
	"shardboard/internal/simcluster/engine/status"
)

// explainAggregate shows how a pipeline is split and what each shard would run. For an
// unsharded collection the explain of its only shard is passed through.
func (c *Cluster) explainAggregate(ctx context.Context, r, sub *engine.Request, execute bool) (bson.D, error) {
	a, err := c.parseAggregate(sub, true)
	if err != nil {
		return nil, err
	}
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	if _, err := pipeline.Compile(a.stages, c.pipelineEnv(ctx, a)); err != nil {
		return nil, err
	}
	tail := c.explainTail(r, sub.Body)
	command := tail[len(tail)-1]
	reply := tail[: len(tail)-1 : len(tail)-1]
	parts := pipeline.Split(a.stages)
	if parts.RouterOnly || a.coll == "" {
		return append(reply, bson.E{Key: "mongos", Value: bson.D{
			{Key: "host", Value: hostname}, {Key: "stages", Value: rawArray(a.stages)},
		}}, command), nil
	}
	lead, _ := pipeline.LeadingMatch(a.stages)
	filter, err := parseFilter(lead, a.env)
	if err != nil {
		return nil, err
	}
	t := c.target(a.db, a.coll, filter)
	if len(t.sources) == 0 {
		return nil, status.Errorf(status.NamespaceNotFound, "database %s not found", a.db)
	}
	if t.routing == nil {
		plan, err := c.explainStages(ctx, a, t, t.sources[0], a.stages, execute)
		if err != nil {
			return nil, err
		}
		reply = append(reply, bson.E{Key: "explainVersion", Value: "1"})
		return append(append(reply, plan...), command), nil
	}
	stages := a.stages
	if len(t.sources) == 1 {
		reply = append(reply, bson.E{Key: "splitPipeline", Value: nil})
	} else {
		stages = parts.Shard
		reply = append(reply, bson.E{Key: "mergeType", Value: "mongos"}, bson.E{Key: "splitPipeline", Value: bson.D{
			{Key: "shardsPart", Value: rawArray(parts.Shard)}, {Key: "mergerPart", Value: rawArray(parts.Merge)},
		}})
	}
	shards := bson.D{}
	for _, s := range t.sources {
		plan, err := c.explainStages(ctx, a, t, s, stages, execute)
		if err != nil {
			return nil, err
		}
		head := bson.D{{Key: "host", Value: c.address(s.shard)}, {Key: "explainVersion", Value: "1"}}
		shards = append(shards, bson.E{Key: s.shard, Value: append(head, plan...)})
	}
	return append(reply, bson.E{Key: "shards", Value: shards}, command), nil
}

// explainStages is one shard's part: the query in front as a plan, the stages
// after it as they are.
func (c *Cluster) explainStages(ctx context.Context, a aggregateArgs, t target, s source, stages []bson.Raw, execute bool) (bson.D, error) {
	l := pipeline.Leading(stages)
	x := explainRequest{db: a.db, coll: a.coll, execute: execute}
	x.order, x.skip, x.limit, x.hint = l.Sort, l.Skip, l.Limit, a.hint
	var err error
	if x.filter, err = parseFilter(l.Filter, a.env); err != nil {
		return nil, err
	}
	alone := t
	alone.sources = []source{s}
	r, err := c.explainOnShard(ctx, x, alone, s)
	if err != nil {
		return nil, err
	}
	hashed := x
	hashed.execute = false // a pipeline's plan has its hashes in any case
	plan := bson.D{{Key: "queryPlanner", Value: c.planner(hashed, t.ns, r.tree(false))}}
	if execute {
		plan = append(plan, bson.E{Key: "executionStats", Value: bson.D{
			{Key: "executionSuccess", Value: true},
			{Key: "nReturned", Value: int32(r.returned)}, {Key: "executionTimeMillis", Value: int32(0)},
			{Key: "totalKeysExamined", Value: int32(r.keys)}, {Key: "totalDocsExamined", Value: int32(r.docs)},
			{Key: "executionStages", Value: r.tree(true)},
		}})
	}
	if len(l.Rest) == 0 {
		return plan, nil
	}
	list := bson.A{bson.D{{Key: "$cursor", Value: plan}}}
	for _, stage := range l.Rest {
		list = append(list, stage)
	}
	return bson.D{{Key: "stages", Value: list}}, nil
}
