package simcluster

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
)

// accessPlan is the lower part of the plan: how documents are found. The position of
// SHARDING_FILTER follows db/query/planner_analysis.cpp: below FETCH when the index
// alone shows the shard key, above it when the document had to be fetched for a
// condition, and nowhere when the query binds the whole shard key.
func (r shardExplain) accessPlan(stage stageMaker) bson.D {
	var residual []bson.E
	switch r.plan.Stage {
	case "COLLSCAN":
		if f := andAll(predicates(r.filter.Raw())); len(f) > 0 {
			residual = []bson.E{{Key: "filter", Value: f}}
		}
		return r.filtered(stage, stage("COLLSCAN", nil, append(residual, bson.E{Key: "direction", Value: r.direction()})...))
	case "IDHACK":
		if r.since8 {
			// The ownership of the document is checked inside of the stage.
			return stage("EXPRESS_IXSCAN", nil, bson.E{Key: "keyPattern", Value: "{ _id: 1 }"}, bson.E{Key: "indexName", Value: "_id_"})
		}
		return r.filtered(stage, stage("IDHACK", nil))
	}
	scan := stage("IXSCAN", nil, r.scanFields()...)
	if left := r.uncovered(); len(left) > 0 {
		return r.filtered(stage, stage("FETCH", scan, bson.E{Key: "filter", Value: andAll(left)}))
	}
	if r.filtering && !r.indexShowsKey() {
		return r.filtered(stage, stage("FETCH", scan))
	}
	return stage("FETCH", r.filtered(stage, scan))
}

func (r shardExplain) filtered(stage stageMaker, inner bson.D) bson.D {
	if !r.filtering {
		return inner
	}
	return stage("SHARDING_FILTER", inner)
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
func (r shardExplain) scanFields() []bson.E {
	spec := r.plan.Spec
	paths, bounds, hashed := bson.D{}, bson.D{}, false
	for e := value.Read(r.plan.KeyPattern); e.Next(); {
		name := string(e.Key)
		hashed = hashed || e.Value.Type == bson.TypeString
		paths = append(paths, bson.E{Key: name, Value: bson.A{}})
		bounds = append(bounds, bson.E{Key: name, Value: boundsText(r.bounds(name, e.Value.Type == bson.TypeString))})
	}
	fields := []bson.E{
		{Key: "keyPattern", Value: r.plan.KeyPattern},
		{Key: "indexName", Value: r.plan.Index},
		{Key: "isMultiKey", Value: r.plan.Multikey},
	}
	if !hashed && !(r.since8 && r.plan.Index == "_id_") {
		fields = append(fields, bson.E{Key: "multiKeyPaths", Value: paths})
	}
	return append(fields,
		bson.E{Key: "isUnique", Value: truthy(value.Field(spec, "unique")) || r.plan.Index == "_id_"},
		bson.E{Key: "isSparse", Value: truthy(value.Field(spec, "sparse"))},
		bson.E{Key: "isPartial", Value: hasKey(spec, "partialFilterExpression")},
		bson.E{Key: "indexVersion", Value: int32(2)},
		bson.E{Key: "direction", Value: r.direction()},
		bson.E{Key: "indexBounds", Value: bounds})
}

// bounds are the intervals of one index field: as scanned, or else as the filter gives
// them; a hashed field that is not scanned by points is open. An empty list means that
// nothing can match.
func (r shardExplain) bounds(field string, hashed bool) []query.Interval {
	for _, b := range r.plan.Bounds {
		if b.Field == field {
			return b.Intervals
		}
	}
	if hashed {
		return []query.Interval{{Low: value.MinKey(), High: value.MaxKey(), LowInclusive: true, HighInclusive: true}}
	}
	return r.filter.IndexBounds(field, r.plan.Multikey)
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
