package simcluster

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
)

// shardExplain is the plan and the counters of one shard for an explained query.
type shardExplain struct {
	explainRequest
	filtering bool // orphans are filtered out
	shardKey  bson.Raw
	plan      engine.Plan
	exists    bool
	since8    bool // the forms of 8.0
	counted   bool // stages have the figures of the run
}

// explainOnShard runs the query on one shard and keeps its plan and counters. The caller
// holds catalog.Mu.
func (c *Cluster) explainOnShard(ctx context.Context, x explainRequest, t target, s source) (shardExplain, error) {
	r := shardExplain{explainRequest: x, filtering: s.owned != nil, exists: s.coll != nil,
		since8: c.version.atLeast(8, 0, 0)}
	if t.routing != nil {
		r.shardKey = t.routing.Key
	}
	if !r.exists {
		return r, nil
	}
	cur := s.coll.Query(ctx, engine.Query{Filter: x.filter, Sort: x.order, Skip: x.skip, Limit: x.limit, Hint: x.hint, Owned: s.owned})
	if x.execute {
		_ = drain(cur)
	}
	r.plan = cur.Plan()
	return r, cur.Err()
}

// figures are the results of the run, with the names that they have for a shard and for the whole query.
func figures(returned, keys, docs int64) bson.D {
	return value.D("nReturned", int32(returned), "executionTimeMillis", int32(0), "totalKeysExamined", int32(keys),
		"totalDocsExamined", int32(docs))
}

// executed are the figures of the shard with its plan.
func (r shardExplain) executed() bson.D {
	r.counted = true
	stages := r.tree()
	if r.since8 {
		stages = value.D("isCached", false, stages)
	}
	return value.D("executionSuccess", true, figures(r.plan.Returned, r.plan.KeysExamined, r.plan.DocsExamined), "executionStages", stages)
}

// stage is a stage around another, which is nil for the innermost. The server prints the filter before the counters.
func (r shardExplain) stage(name string, inner, filter, fields bson.D) bson.D {
	return value.D("stage", name, filter, value.When(r.counted, r.counters(name)), fields, value.When(r.counted, r.examined(name)),
		value.When(inner != nil, "inputStage", inner))
}

// tree is the plan as nested stages, outermost first.
func (r shardExplain) tree() bson.D {
	if !r.exists {
		return r.stage("EOF", nil, nil, nil)
	}
	d := r.accessPlan()
	if r.plan.SortInMemory {
		d = r.stage("SORT", d, nil, value.D("sortPattern", r.order, "memLimit", int32(104857600),
			value.When(r.limit > 0, "limitAmount", number(r.limit+r.skip)), "type", "simple"))
	}
	if len(r.projection) > 5 {
		d = r.stage("PROJECTION_SIMPLE", d, nil, value.D("transformBy", r.projection))
	}
	if r.skip > 0 {
		d = r.stage("SKIP", d, nil, value.D("skipAmount", number(r.skip)))
	}
	if r.limit > 0 && !r.plan.SortInMemory {
		d = r.stage("LIMIT", d, nil, value.D("limitAmount", number(r.limit)))
	}
	return d
}

// counters are the counters of a stage in executionStats.
func (r shardExplain) counters(stage string) bson.D {
	n := int32(r.plan.Returned)
	if stage == "IXSCAN" {
		// An index scan returns every entry of its range; conditions are applied at FETCH.
		n = max(n, int32(r.plan.DocsExamined))
	}
	return value.D("nReturned", n, "executionTimeMillisEstimate", int32(0), "works", n+1, "advanced", n,
		"needTime", int32(0), "needYield", int32(0), "saveState", int32(0), "restoreState", int32(0),
		"isEOF", int32(1))
}

func (r shardExplain) examined(stage string) bson.D {
	switch stage {
	case "IXSCAN":
		return value.D("keysExamined", int32(r.plan.KeysExamined), "seeks", int32(1), "dupsTested", int32(0), "dupsDropped", int32(0))
	case "FETCH":
		return value.D("docsExamined", int32(r.plan.DocsExamined), "alreadyHasObj", int32(0))
	case "COLLSCAN":
		return value.D("docsExamined", int32(r.plan.DocsExamined))
	case "SHARDING_FILTER":
		return value.D("chunkSkips", int32(0))
	}
	return nil
}

// accessPlan is the lower part of the plan: how documents are found. The position of
// SHARDING_FILTER follows db/query/planner_analysis.cpp: below FETCH when the index
// alone shows the shard key, above it when the document had to be fetched for a
// condition, and nowhere when the query binds the whole shard key.
func (r shardExplain) accessPlan() bson.D {
	switch r.plan.Stage {
	case "COLLSCAN":
		f := parsedQuery(r.filter.Raw())
		return r.filtered(r.stage("COLLSCAN", nil, value.When(len(f) > 0, "filter", f), value.D("direction", r.direction())))
	case "IDHACK":
		if r.since8 {
			// The ownership of the document is checked inside of the stage.
			return r.stage("EXPRESS_IXSCAN", nil, nil, value.D("keyPattern", "{ _id: 1 }", "indexName", "_id_"))
		}
		return r.filtered(r.stage("IDHACK", nil, nil, nil))
	}
	scan := r.stage("IXSCAN", nil, nil, r.scanFields())
	if left := r.uncovered(); len(left) > 0 {
		return r.filtered(r.stage("FETCH", scan, value.D("filter", andAll(left)), nil))
	}
	if r.filtering && !r.indexShowsKey() {
		return r.filtered(r.stage("FETCH", scan, nil, nil))
	}
	return r.stage("FETCH", r.filtered(scan), nil, nil)
}

func (r shardExplain) filtered(inner bson.D) bson.D {
	if !r.filtering {
		return inner
	}
	return r.stage("SHARDING_FILTER", inner, nil, nil)
}

// indexShowsKey reports whether the index entries contain the whole shard key.
func (r shardExplain) indexShowsKey() bool {
	for e := value.Read(r.shardKey); e.Next(); {
		v := value.Field(r.plan.KeyPattern, string(e.Key))
		if v.Type == 0 || (v.Type == bson.TypeString) != (e.Value.Type == bson.TypeString) {
			return false
		}
	}
	return !r.plan.Multikey
}

func (r shardExplain) direction() string {
	if r.plan.Backward || r.reverse {
		return "backward"
	}
	return "forward"
}

// scanFields describe an index scan.
func (r shardExplain) scanFields() bson.D {
	spec := r.plan.Spec
	paths, bounds, hashed := bson.D{}, bson.D{}, false
	for _, b := range r.plan.Bounds {
		hashed = hashed || value.Field(r.plan.KeyPattern, b.Field).Type == bson.TypeString
		paths = append(paths, bson.E{Key: b.Field, Value: bson.A{}})
		bounds = append(bounds, bson.E{Key: b.Field, Value: boundsText(b.Intervals)})
	}
	return value.D("keyPattern", r.plan.KeyPattern, "indexName", r.plan.Index, "isMultiKey", r.plan.Multikey,
		value.When(!hashed && !(r.since8 && r.plan.Index == "_id_"), "multiKeyPaths", paths),
		"isUnique", truthy(value.Field(spec, "unique")) || r.plan.Index == "_id_",
		"isSparse", truthy(value.Field(spec, "sparse")), "isPartial", hasKey(spec, "partialFilterExpression"),
		"indexVersion", int32(2), "direction", r.direction(), "indexBounds", bounds)
}

func boundsText(intervals []query.Interval) bson.A {
	out := bson.A{}
	for _, i := range intervals {
		var b strings.Builder
		b.WriteString(map[bool]string{true: "[", false: "("}[i.LowInclusive])
		b.WriteString(value.Text(i.Low) + ", " + value.Text(i.High))
		b.WriteString(map[bool]string{true: "]", false: ")"}[i.HighInclusive])
		out = append(out, b.String())
	}
	return out
}

// uncovered are the conditions that the index bounds do not cover.
func (r shardExplain) uncovered() []predicate {
	var left []predicate
	for _, p := range predicates(r.filter.Raw()) {
		v := value.Field(r.plan.KeyPattern, p.path)
		if v.Type == 0 || v.Type == bson.TypeString || !p.tight || r.plan.Multikey {
			left = append(left, p)
		}
	}
	return left
}

// predicate is one condition of a filter in the server's normal form.
type predicate struct {
	path  string
	rank  int // order among operators
	shown bson.E
	tight bool // index bounds on the path are equivalent to it
}

// parsedQuery is a filter in the normal form that explain shows: conditions joined
// by $and, sorted by operator and path (db/matcher/expression.cpp).
func parsedQuery(filter bson.Raw) bson.D { return andAll(predicates(filter)) }

func andAll(list []predicate) bson.D {
	switch len(list) {
	case 0:
		return bson.D{}
	case 1:
		return bson.D{list[0].shown}
	}
	all := make(bson.A, len(list))
	for i, p := range list {
		all[i] = bson.D{p.shown}
	}
	return value.D("$and", all)
}

// operatorRank is the order of operators in a normal form: the order of
// MatchExpression::MatchType.
var operatorRank = [...]string{"$and", "$or", "$elemMatch", "$size", "$eq", "$lte", "$lt", "$gt", "$gte", "$regex",
	"$exists", "$in", "$not", "$nor", "$type", "$expr"}

func rankOf(op string) int {
	if i := slices.Index(operatorRank[:], op); i >= 0 {
		return i
	}
	return len(operatorRank)
}

// predicates flattens a filter and sorts it.
func predicates(filter bson.Raw) []predicate {
	list := flatten(nil, filter)
	slices.SortStableFunc(list, func(a, b predicate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.path, b.path))
	})
	return list
}

func flatten(list []predicate, filter bson.Raw) []predicate {
	for e := value.Read(filter); e.Next(); {
		name := string(e.Key)
		switch {
		case name == "$and" && e.Value.Type == bson.TypeArray:
			for item := range value.Items(e.Value) {
				if d, ok := item.DocumentOK(); ok {
					list = flatten(list, d)
				}
			}
		case name == "$comment":
		case (name == "$or" || name == "$nor") && e.Value.Type == bson.TypeArray:
			branches := bson.A{}
			for item := range value.Items(e.Value) {
				if d, ok := item.DocumentOK(); ok {
					branches = append(branches, parsedQuery(d))
				}
			}
			list = append(list, predicate{rank: rankOf(name), shown: bson.E{Key: name, Value: branches}})
		case strings.HasPrefix(name, "$"):
			list = append(list, predicate{rank: rankOf(name), shown: bson.E{Key: name, Value: e.Value}})
		default:
			list = conditions(list, name, e.Value)
		}
	}
	return list
}

// conditions adds what a filter says about one path.
func conditions(list []predicate, path string, v bson.RawValue) []predicate {
	d, ok := v.DocumentOK()
	first, _ := value.First(d)
	if !ok || !strings.HasPrefix(first, "$") {
		return append(list, single(path, "$eq", v))
	}
	for e := value.Read(d); e.Next(); {
		switch op := string(e.Key); op {
		case "$ne":
			list = append(list, negated(path, single(path, "$eq", e.Value)))
		case "$nin":
			list = append(list, negated(path, single(path, "$in", e.Value)))
		case "$options":
		default:
			list = append(list, single(path, op, e.Value))
		}
	}
	return list
}

func single(path, op string, v bson.RawValue) predicate {
	if op == "$in" && v.Type == bson.TypeArray {
		items := slices.SortedStableFunc(value.Items(v), value.Compare)
		items = slices.CompactFunc(items, value.Equal)
		if len(items) == 1 && items[0].Type != bson.TypeRegex {
			return single(path, "$eq", items[0])
		}
		v = value.Array(items...)
	}
	p := predicate{path: path, rank: rankOf(op), shown: bson.E{Key: path, Value: value.D(op, v)}}
	switch op {
	case "$eq", "$lt", "$lte", "$gt", "$gte":
		// null also matches missing fields, which an index cannot distinguish.
		p.tight = v.Type != bson.TypeNull && v.Type != bson.TypeArray
	case "$in":
		p.tight = !slices.ContainsFunc(slices.Collect(value.Items(v)), func(i bson.RawValue) bool {
			return i.Type == bson.TypeNull || i.Type == bson.TypeArray || i.Type == bson.TypeRegex
		})
	}
	return p
}

func negated(path string, p predicate) predicate {
	inner := p.shown.Value
	return predicate{path: path, rank: rankOf("$not"), shown: bson.E{Key: path, Value: value.D("$not", inner)}}
}
