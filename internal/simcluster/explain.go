package simcluster

import (
	"context"
	"fmt"
	"hash/fnv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
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
	if c.version.atLeast(8, 0, 0) && x.db != "config" && !isExpress(reply) {
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
	plans, runs := bson.A{}, bson.A{}
	var sum shardExplain
	for _, s := range t.sources {
		r, err := c.explainOnShard(ctx, x, t, s)
		if err != nil {
			return nil, err
		}
		head := bson.D{
			{Key: "shardName", Value: s.shard},
			{Key: "connectionString", Value: c.catalog.Host(s.shard)},
			{Key: "serverInfo", Value: c.serverInfo(s.shard)},
		}
		if c.version.atLeast(8, 0, 0) {
			head = append(bson.D{{Key: "explainVersion", Value: "1"}}, head...)
		}
		plans = append(plans, append(head, c.planner(x, t.ns, r.tree(false))...))
		runs = append(runs, bson.D{
			{Key: "shardName", Value: s.shard}, {Key: "executionSuccess", Value: true},
			{Key: "nReturned", Value: int32(r.returned)}, {Key: "executionTimeMillis", Value: int32(0)},
			{Key: "totalKeysExamined", Value: int32(r.keys)}, {Key: "totalDocsExamined", Value: int32(r.docs)},
			{Key: "executionStages", Value: c.cached(r.tree(true))},
		})
		sum.returned, sum.keys, sum.docs = sum.returned+r.returned, sum.keys+r.keys, sum.docs+r.docs
	}
	planner := bson.D{{Key: "winningPlan", Value: bson.D{{Key: "stage", Value: stage}, {Key: "shards", Value: plans}}}}
	if !c.version.atLeast(8, 0, 0) {
		planner = append(bson.D{{Key: "mongosPlannerVersion", Value: int32(1)}}, planner...)
	}
	reply := bson.D{{Key: "queryPlanner", Value: planner}}
	if !x.execute {
		return reply, nil
	}
	totals := bson.D{
		{Key: "nReturned", Value: int32(sum.returned)}, {Key: "executionTimeMillis", Value: int32(0)},
		{Key: "totalKeysExamined", Value: int32(sum.keys)}, {Key: "totalDocsExamined", Value: int32(sum.docs)},
	}
	stages := append(append(bson.D{{Key: "stage", Value: stage}}, totals...),
		bson.E{Key: "totalChildMillis", Value: int64(0)}, bson.E{Key: "shards", Value: runs})
	return append(reply, bson.E{Key: "executionStats", Value: append(totals[:len(totals):len(totals)],
		bson.E{Key: "executionStages", Value: stages})}), nil
}

// planner is the part of queryPlanner that one shard fills.
func (c *Cluster) planner(x explainRequest, ns string, winning bson.D) bson.D {
	parsed := parsedQuery(x.filter.Raw())
	if c.version.atLeast(8, 0, 0) {
		return x.planner8(ns, parsed, winning)
	}
	d := bson.D{
		{Key: "namespace", Value: ns},
		{Key: "indexFilterSet", Value: false},
		{Key: "parsedQuery", Value: parsed},
	}
	if !x.execute {
		d = append(d, bson.E{Key: "queryHash", Value: shapeHash(parsed, nil)}, bson.E{Key: "planCacheKey", Value: shapeHash(parsed, winning)})
	}
	return append(d,
		bson.E{Key: "maxIndexedOrSolutionsReached", Value: false},
		bson.E{Key: "maxIndexedAndSolutionsReached", Value: false},
		bson.E{Key: "maxScansToExplodeReached", Value: false},
		bson.E{Key: "winningPlan", Value: winning},
		bson.E{Key: "rejectedPlans", Value: bson.A{}},
	)
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
	parameters := bson.D{
		{Key: "internalQueryFacetBufferSizeBytes", Value: limit},
		{Key: "internalQueryFacetMaxOutputDocSizeBytes", Value: limit},
		{Key: "internalLookupStageIntermediateDocumentMaxSizeBytes", Value: limit},
		{Key: "internalDocumentSourceGroupMaxMemoryBytes", Value: limit},
		{Key: "internalQueryMaxBlockingSortMemoryUsageBytes", Value: limit},
		{Key: "internalQueryProhibitBlockingMergeOnMongoS", Value: int32(0)},
		{Key: "internalQueryMaxAddToSetBytes", Value: limit},
		{Key: "internalDocumentSourceSetWindowFieldsMaxMemoryBytes", Value: limit},
	}
	if c.version.atLeast(8, 0, 0) {
		parameters = append(parameters, bson.E{Key: "internalQueryFrameworkControl", Value: "trySbeRestricted"},
			bson.E{Key: "internalQueryPlannerIgnoreIndexWithCollationForRegex", Value: int32(1)})
	}
	d := bson.D{{Key: "serverInfo", Value: c.serverInfo("")}, {Key: "serverParameters", Value: parameters}}
	return append(d, bson.E{Key: "command", Value: innerCommand(r, inner)})
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
