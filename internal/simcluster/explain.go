package simcluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/fnv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/pipeline"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// explainRequest is the command to explain, reduced to its query.
type explainRequest struct {
	db, coll string
	selection
	projection bson.Raw // as given
	execute    bool     // verbosity asks for figures of a run
}

// explain shows the shards that a find or an aggregate targets and the plan of each. The query is
// run to get the engine's real plans.
func (c *Cluster) explain(ctx context.Context, r *engine.Request) (bson.D, error) {
	inner, ok := r.Lookup("explain").DocumentOK()
	if !ok {
		return nil, wrongType("explain.explain", r.Lookup("explain"), "object")
	}
	verbosity := "allPlansExecution"
	if s, ok := r.Lookup("verbosity").StringValueOK(); ok {
		verbosity = s
	}
	switch verbosity {
	case "queryPlanner", "executionStats", "allPlansExecution":
	default:
		return nil, status.Errorf(status.FailedToParse, "Enumeration value '%s' for field 'verbosity' is not a valid value.", verbosity)
	}
	sub := &engine.Request{DB: r.DB, Name: commandName(inner), Body: inner, Docs: r.Docs, Conn: r.Conn}
	execute := verbosity != "queryPlanner"
	switch sub.Name {
	case "aggregate":
		return c.explainAggregate(ctx, r, sub, execute)
	case "find":
	default:
		return nil, status.Errorf(status.CommandNotFound, "Explain failed due to unknown command: %s", sub.Name)
	}
	a, err := c.parseFind(sub)
	if err != nil {
		return nil, err
	}
	x := explainRequest{db: a.db, coll: a.coll, selection: a.selection, execute: execute}
	x.projection, _ = document(sub, "projection")
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	t := c.target(x.db, x.coll, x.filter)
	if len(t.sources) == 0 {
		return nil, status.Errorf(status.NamespaceNotFound, "database %s not found", x.db)
	}
	reply, err := c.explainTarget(ctx, x, t)
	if err != nil {
		return nil, err
	}
	// 8.0 hashes no shape of a query that reads one document by its _id past the planner.
	if c.version.atLeast(8, 0, 0) && x.db != "config" && !bytes.Contains(encode(reply), []byte("EXPRESS_IXSCAN\x00")) {
		reply = append(reply, bson.E{Key: "queryShapeHash", Value: queryShapeHash(x.db, x.coll, parsedQuery(x.filter.Raw()))})
	}
	return append(reply, c.explainTail(r, inner)...), nil
}

// mergeStage is the stage with which mongos combines the shards' results.
func (x explainRequest) mergeStage(t target) string {
	switch {
	case len(t.sources) == 1:
		return "SINGLE_SHARD"
	case x.sort != nil:
		return "SHARD_MERGE_SORT"
	}
	return "SHARD_MERGE"
}

// explainTarget asks every source for its plan. The caller holds catalog.Mu.
func (c *Cluster) explainTarget(ctx context.Context, x explainRequest, t target) (bson.D, error) {
	stage := x.mergeStage(t)
	if len(t.sources) > 1 && x.limit > 0 {
		x.limit += x.skip
	}
	if len(t.sources) > 1 {
		x.skip = 0 // mongos skips
	}
	plans, runs := bson.A{}, bson.A{}
	var returned, keys, docs int64
	for _, s := range t.sources {
		r, err := c.explainOnShard(ctx, x, t, s)
		if err != nil {
			return nil, err
		}
		plans = append(plans, value.D(value.When(r.since8, "explainVersion", "1"), "shardName", s.shard,
			"connectionString", c.catalog.Host(s.shard), "serverInfo", c.serverInfo(s.shard), c.planner(x, t.ns, r.tree())))
		runs = append(runs, value.D("shardName", s.shard, r.executed()))
		returned, keys, docs = returned+r.plan.Returned, keys+r.plan.KeysExamined, docs+r.plan.DocsExamined
	}
	reply := value.D("queryPlanner", value.D(value.When(!c.version.atLeast(8, 0, 0), "mongosPlannerVersion", int32(1)),
		"winningPlan", value.D("stage", stage, "shards", plans)))
	if !x.execute {
		return reply, nil
	}
	totals := figures(returned, keys, docs)
	return value.D(reply, "executionStats", value.D(totals,
		"executionStages", value.D("stage", stage, totals, "totalChildMillis", int64(0), "shards", runs))), nil
}

// planner is the part of queryPlanner that one shard fills, with the fields and their order as recorded.
func (c *Cluster) planner(x explainRequest, ns string, winning bson.D) bson.D {
	parsed := parsedQuery(x.filter.Raw())
	shape, key := shapeHash(parsed, nil), shapeHash(parsed, winning)
	const reached = false
	if c.version.atLeast(8, 0, 0) {
		return value.D("namespace", ns, "parsedQuery", parsed, "indexFilterSet", false, "queryHash", shape, "planCacheShapeHash", shape,
			"planCacheKey", key, "optimizationTimeMillis", int32(0), "maxIndexedOrSolutionsReached", reached,
			"maxIndexedAndSolutionsReached", reached, "maxScansToExplodeReached", reached, "prunedSimilarIndexes", false,
			"winningPlan", value.D("isCached", false, winning), "rejectedPlans", bson.A{})
	}
	return value.D("namespace", ns, "indexFilterSet", false, "parsedQuery", parsed,
		value.When(!x.execute, "queryHash", shape, "planCacheKey", key), "maxIndexedOrSolutionsReached", reached,
		"maxIndexedAndSolutionsReached", reached, "maxScansToExplodeReached", reached, "winningPlan", winning, "rejectedPlans", bson.A{})
}

// shapeHash is a hash of a query shape in eight hexadecimal digits. The server hashes
// an internal encoding, so the digits differ from its own, but equal shapes have equal
// hashes.
func shapeHash(parsed bson.D, plan bson.D) string {
	h := fnv.New32a()
	for _, p := range parsed {
		fmt.Fprint(h, p.Key)
		if d, ok := p.Value.(bson.D); ok {
			for _, op := range d {
				fmt.Fprint(h, op.Key)
			}
		}
	}
	for _, p := range plan {
		if s, ok := p.Value.(string); ok {
			fmt.Fprint(h, s)
		}
	}
	return fmt.Sprintf("%08X", h.Sum32())
}

// explainTail has the last fields of every explain reply of mongos.
func (c *Cluster) explainTail(r *engine.Request, inner bson.Raw) bson.D {
	const limit = int32(104857600)
	return value.D("serverInfo", c.serverInfo(""), "serverParameters", value.D("internalQueryFacetBufferSizeBytes", limit,
		"internalQueryFacetMaxOutputDocSizeBytes", limit,
		"internalLookupStageIntermediateDocumentMaxSizeBytes", limit,
		"internalDocumentSourceGroupMaxMemoryBytes", limit, "internalQueryMaxBlockingSortMemoryUsageBytes", limit,
		"internalQueryProhibitBlockingMergeOnMongoS", int32(0), "internalQueryMaxAddToSetBytes", limit,
		"internalDocumentSourceSetWindowFieldsMaxMemoryBytes", limit,
		value.When(c.version.atLeast(8, 0, 0), "internalQueryFrameworkControl", "trySbeRestricted",
			"internalQueryPlannerIgnoreIndexWithCollationForRegex", int32(1))), "command", innerCommand(r, inner))
}

// innerCommand is the explained command as the router saw it.
func innerCommand(r *engine.Request, inner bson.Raw) bson.Raw {
	b := value.NewBuilder(len(inner) + 64)
	for e := value.Read(inner); e.Next(); {
		b.Append(string(e.Key), e.Value)
	}
	if id := r.Lookup("lsid"); id.Type != 0 && !hasKey(inner, "lsid") {
		b.Append("lsid", id)
	}
	if !hasKey(inner, "$db") {
		b.Append("$db", value.String(r.DB))
	}
	return b.Raw()
}

// queryShapeHash stands for the hash of a query's shape that 8.0 shows: 64 hexadecimal
// digits, equal for equal shapes, but not the server's.
func queryShapeHash(db, coll string, parsed bson.D) string {
	return fmt.Sprintf("%X", sha256.Sum256([]byte(db+"."+coll+shapeHash(parsed, nil))))
}

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
	reply, command := tail[:len(tail)-1:len(tail)-1], tail[len(tail)-1:]
	parts := pipeline.Split(a.stages)
	if parts.RouterOnly || a.coll == "" {
		return value.D(reply, "mongos", value.D("host", hostname, "stages", rawArray(a.stages)), command), nil
	}
	lead, _ := pipeline.LeadingMatch(a.stages)
	filter, err := query.Parse(lead, a.env)
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
		return value.D(reply, "explainVersion", "1", plan, command), nil
	}
	stages := a.stages
	if len(t.sources) == 1 {
		reply = append(reply, bson.E{Key: "splitPipeline", Value: nil})
	} else {
		stages = parts.Shard
		reply = value.D(reply, "mergeType", "mongos",
			"splitPipeline", value.D("shardsPart", rawArray(parts.Shard), "mergerPart", rawArray(parts.Merge)))
	}
	shards := bson.D{}
	for _, s := range t.sources {
		plan, err := c.explainStages(ctx, a, t, s, stages, execute)
		if err != nil {
			return nil, err
		}
		shards = append(shards, value.D(s.shard, value.D("host", addressOf(c.catalog, s.shard), "explainVersion", "1", plan))...)
	}
	return value.D(reply, "shards", shards, command), nil
}

// explainStages is one shard's part: the query in front as a plan, the stages
// after it as they are.
func (c *Cluster) explainStages(ctx context.Context, a aggregateArgs, t target, s source, stages []bson.Raw, execute bool) (bson.D, error) {
	l := pipeline.Leading(stages)
	x := explainRequest{db: a.db, coll: a.coll, execute: execute}
	x.order, x.skip, x.limit, x.hint = l.Sort, l.Skip, l.Limit, a.hint
	var err error
	if x.filter, err = query.Parse(l.Filter, a.env); err != nil {
		return nil, err
	}
	r, err := c.explainOnShard(ctx, x, t, s)
	if err != nil {
		return nil, err
	}
	hashed := x
	hashed.execute = false // a pipeline's plan has its hashes in any case
	plan := value.D("queryPlanner", c.planner(hashed, t.ns, r.tree()))
	if execute {
		plan = value.D(plan, "executionStats", r.executed())
	}
	if len(l.Rest) == 0 {
		return plan, nil
	}
	list := bson.A{value.D("$cursor", plan)}
	for _, stage := range l.Rest {
		list = append(list, stage)
	}
	return value.D("stages", list), nil
}
