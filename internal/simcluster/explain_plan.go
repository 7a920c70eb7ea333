package simcluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// shardExplain is the plan and the counters of one shard for an explained query.
type shardExplain struct {
	explainRequest
	filtering  bool // orphans are filtered out
	shardKey   bson.Raw
	plan       engine.Plan
	exists     bool
	shardLimit int64
	shardSkip  int64
	returned   int64
	keys, docs int64
	since8     bool // the forms of 8.0
}

// explainOnShard runs the query on one shard and keeps its plan and counters. The caller
// holds catalog.Mu.
func (c *Cluster) explainOnShard(ctx context.Context, x explainRequest, t target, s source) (shardExplain, error) {
	r := shardExplain{explainRequest: x, filtering: s.owned != nil, exists: s.coll != nil,
		since8: c.version.atLeast(8, 0, 0)}
	if t.routing != nil {
		r.shardKey = t.routing.Key
	}
	r.shardSkip, r.shardLimit = x.skip, x.limit
	if len(t.sources) > 1 {
		r.shardSkip = 0
		if x.limit > 0 {
			r.shardLimit = x.skip + x.limit
		}
	}
	if !r.exists {
		return r, nil
	}
	cur := s.coll.Query(engine.Query{Filter: x.filter, Sort: x.order, Skip: r.shardSkip, Limit: r.shardLimit, Hint: x.hint, Owned: s.owned})
	if x.execute {
		if _, err := drain(ctx, cur); err != nil {
			return r, err
		}
	} else if err := cur.Err(); err != nil {
		return r, err
	}
	r.plan = cur.Plan()
	r.returned, r.keys, r.docs = r.plan.Returned, r.plan.KeysExamined, r.plan.DocsExamined
	return r, nil
}

// tree is the plan as nested stages, outermost first; with figures of the run when
// asked for.
func (r shardExplain) tree(figures bool) bson.D {
	stage := func(name string, inner bson.D, fields ...bson.E) bson.D {
		d := bson.D{{Key: "stage", Value: name}}
		var before, after []bson.E
		for _, f := range fields {
			// The server prints the filter before the counters.
			if f.Key == "filter" {
				before = append(before, f)
			} else {
				after = append(after, f)
			}
		}
		d = append(d, before...)
		if figures {
			d = append(d, r.figures(name)...)
		}
		d = append(d, after...)
		if figures {
			d = append(d, r.examined(name)...)
		}
		if inner != nil {
			d = append(d, bson.E{Key: "inputStage", Value: inner})
		}
		return d
	}
	if !r.exists {
		return stage("EOF", nil)
	}
	d := r.accessPlan(stage)
	if r.plan.SortInMemory {
		fields := []bson.E{{Key: "sortPattern", Value: r.order}, {Key: "memLimit", Value: int32(104857600)}}
		if r.shardLimit > 0 {
			fields = append(fields, bson.E{Key: "limitAmount", Value: number(r.shardLimit + r.shardSkip)})
		}
		d = stage("SORT", d, append(fields, bson.E{Key: "type", Value: "simple"})...)
	}
	if len(r.projection) > 5 {
		d = stage("PROJECTION_SIMPLE", d, bson.E{Key: "transformBy", Value: r.projection})
	}
	if r.shardSkip > 0 {
		d = stage("SKIP", d, bson.E{Key: "skipAmount", Value: number(r.shardSkip)})
	}
	if r.shardLimit > 0 && !r.plan.SortInMemory {
		d = stage("LIMIT", d, bson.E{Key: "limitAmount", Value: number(r.shardLimit)})
	}
	return d
}

type stageMaker func(name string, inner bson.D, fields ...bson.E) bson.D

// figures are the counters of a stage in executionStats.
func (r shardExplain) figures(stage string) bson.D {
	n := int32(r.returned)
	if stage == "IXSCAN" {
		// An index scan returns every entry of its range; conditions are applied at FETCH.
		n = max(n, int32(r.docs))
	}
	return bson.D{
		{Key: "nReturned", Value: n}, {Key: "executionTimeMillisEstimate", Value: int32(0)},
		{Key: "works", Value: n + 1}, {Key: "advanced", Value: n},
		{Key: "needTime", Value: int32(0)}, {Key: "needYield", Value: int32(0)},
		{Key: "saveState", Value: int32(0)}, {Key: "restoreState", Value: int32(0)}, {Key: "isEOF", Value: int32(1)},
	}
}

func (r shardExplain) examined(stage string) bson.D {
	switch stage {
	case "IXSCAN":
		return bson.D{
			{Key: "keysExamined", Value: int32(r.keys)}, {Key: "seeks", Value: int32(1)},
			{Key: "dupsTested", Value: int32(0)}, {Key: "dupsDropped", Value: int32(0)},
		}
	case "FETCH":
		return bson.D{{Key: "docsExamined", Value: int32(r.docs)}, {Key: "alreadyHasObj", Value: int32(0)}}
	case "COLLSCAN":
		return bson.D{{Key: "docsExamined", Value: int32(r.docs)}}
	case "SHARDING_FILTER":
		return bson.D{{Key: "chunkSkips", Value: int32(0)}}
	}
	return nil
}
