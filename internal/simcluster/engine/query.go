package engine

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Query describes a read.
type Query struct {
	Filter      *query.Filter           // nil = everything
	Sort        bson.Raw                // sort pattern; nil = natural order; {$natural: ±1} scans the collection
	Skip, Limit int64                   // 0 = none
	Hint        bson.RawValue           // index name or key pattern; missing = none
	Owned       func(doc bson.Raw) bool // nil = all; orphans for which it returns false are skipped
}

// Plan describes how a query runs. Its counters increase while the cursor moves.
type Plan struct {
	Stage        string   // COLLSCAN, IXSCAN, IDHACK
	Index        string   // name, "" for COLLSCAN
	KeyPattern   bson.Raw // nil for COLLSCAN
	Spec         bson.Raw // the index as listIndexes shows it
	Multikey     bool     // the index holds several keys for some documents
	Backward     bool     // scanned from high to low
	SortInMemory bool     // the order did not come from the scan
	Bounds       []FieldBounds
	KeysExamined int64
	DocsExamined int64
	Returned     int64
}

// FieldBounds are the intervals scanned in one field of the index, in index order.
type FieldBounds struct {
	Field     string
	Intervals []query.Interval
}

// Query plans and starts a query; errors are returned by Cursor.Err.
func (c *Coll) Query(q Query) *Cursor {
	cur := &Cursor{coll: c, filter: q.Filter, owned: q.Owned, skip: q.Skip, limit: q.Limit, writes: c.writes}
	natural := value.Field(q.Sort, "$natural")
	if natural.Type != 0 {
		q.Sort = nil
	}
	order, err := query.ParseSort(q.Sort)
	if err != nil {
		cur.err = err
		return cur
	}
	choice, err := c.plan(q, order, natural.Type != 0)
	if err != nil {
		cur.err = err
		return cur
	}
	cur.plan = choice.describe()
	if choice.index == nil {
		cur.source = &tableScan{coll: c, backward: value.Float(natural) < 0}
	} else {
		cur.source = newIndexScan(choice)
	}
	if order != nil && !choice.sorted {
		cur.plan.SortInMemory = true
		cur.order = order
	}
	return cur
}

// plan chooses the index or a collection scan.
func (c *Coll) plan(q Query, order *query.Sort, natural bool) (choice, error) {
	if natural {
		return choice{}, nil
	}
	if q.Hint.Type != 0 {
		return c.hinted(q, order)
	}
	if id, ok := onlyID(q.Filter); ok {
		ch := choice{index: c.indexes[0], idhack: true, sorted: true, bounds: [][]query.Interval{id}}
		ch.makeRanges()
		return ch, nil
	}
	var best choice
	for _, x := range c.indexes {
		if ch := consider(x, q.Filter, order); ch.score > best.score {
			best = ch
		}
	}
	return best, nil
}

// hinted applies a hint: an index by name or key, or {$natural: 1}.
func (c *Coll) hinted(q Query, order *query.Sort) (choice, error) {
	name := ""
	switch q.Hint.Type {
	case bson.TypeString:
		name = q.Hint.StringValue()
	case bson.TypeEmbeddedDocument:
		if field, _ := value.First(q.Hint.Value); field == "$natural" {
			return choice{}, nil
		} else if field == "" {
			return c.plan(Query{Filter: q.Filter}, order, false)
		}
		name, _ = c.IndexByKey(q.Hint.Value)
	default:
		return choice{}, Errorf(status.FailedToParse, "hint must be a string or an object")
	}
	for _, x := range c.indexes {
		if x.name == name {
			ch := consider(x, q.Filter, order)
			ch.index = x
			if ch.ranges == nil {
				ch.makeRanges()
			}
			return ch, nil
		}
	}
	return choice{}, Errorf(status.BadValue,
		"error processing query: ns=%s planner returned error :: caused by :: hint provided does not correspond to an existing index", c.NS())
}

// onlyID reports whether the filter is {_id: <value>} and nothing else, and gives the value's interval.
func onlyID(f *query.Filter) ([]query.Interval, bool) {
	if f.Empty() || value.Len(f.Raw()) != 1 {
		return nil, false
	}
	if id := value.Field(f.Raw(), "_id"); id.Type == bson.TypeEmbeddedDocument {
		if op, _ := value.First(id.Value); strings.HasPrefix(op, "$") && op != "$eq" {
			return nil, false // {$in: [x]} is equivalent, but the server plans it
		}
	}
	equal := f.Equalities()
	if len(equal) != 1 || equal[0].Path != "_id" || equal[0].Value.Type == bson.TypeArray {
		return nil, false
	}
	bounds := f.Bounds("_id")
	return bounds, len(bounds) == 1 && bounds[0].IsPoint()
}
