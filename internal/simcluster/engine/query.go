package engine

import (
	"context"
	"slices"
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

// Query plans a query; errors are returned by Cursor.Err.
func (c *Coll) Query(ctx context.Context, q Query) *Cursor {
	natural := value.Field(q.Sort, "$natural")
	if natural.Type != 0 {
		q.Sort = nil
	}
	cur := &Cursor{ctx: ctx, coll: c, query: q, backward: value.Float(natural) < 0}
	order, err := query.ParseSort(q.Sort)
	if err == nil {
		cur.choice, err = c.plan(q, order, natural.Type != 0)
	}
	if err != nil {
		cur.err = err
		return cur
	}
	cur.plan = cur.choice.describe()
	if order != nil && !cur.choice.sorted {
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
		return choice{}, status.Errorf(status.FailedToParse, "hint must be a string or an object")
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
	return choice{}, status.Errorf(status.BadValue,
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

// choice is one way to run a query; the zero value scans the collection.
type choice struct {
	index    *index
	bounds   [][]query.Interval // of the first fields of the index, in index order
	ranges   []keyRange         // what to scan, ascending in the index
	sorted   bool               // the scan gives the wanted order
	backward bool
	idhack   bool
	score    int // 0 = of no use
}

// maxRanges is the largest number of ranges that an index scan visits.
const maxRanges = 4096

// consider scores an index for a query. An equality counts most, then a range, then the
// sort order. The server runs candidate plans instead; this rule agrees with it in
// simple cases.
func consider(x *index, f *query.Filter, order *query.Sort) choice {
	ch := choice{index: x}
	if x.partial != nil && !implies(f, x.partial) {
		return ch
	}
	excludesNull := false
	total := 1
	for i, field := range x.fields {
		if x.sharesArray(i) {
			break
		}
		intervals := f.IndexBounds(field.name, x.multi&(1<<i) != 0)
		if query.IsEverything(intervals) {
			break
		}
		points := query.AllPoints(intervals)
		if field.hashed {
			if !points {
				break
			}
			intervals = query.Hashed(intervals)
		}
		if total *= len(intervals); total > maxRanges {
			break
		}
		if field.descending {
			slices.Reverse(intervals)
		}
		ch.bounds = append(ch.bounds, intervals)
		excludesNull = excludesNull || !containsNull(intervals)
		switch {
		case points && len(intervals) <= 1:
			ch.score += 10
		case points:
			ch.score += 8
		default:
			ch.score += 5
		}
		if !points {
			break
		}
	}
	if x.sparse && !excludesNull {
		ch.score = 0
		return ch
	}
	if order != nil {
		ch.sorted, ch.backward = ch.gives(order)
		if ch.sorted {
			ch.score += 6
		}
	}
	if x.name == "_id_" && order == nil && len(ch.bounds) == 1 && len(ch.bounds[0]) == 1 && ch.bounds[0][0].IsPoint() {
		// At most one document matches: no other index is better, and the oldest of equal
		// indexes wins.
		ch.score += 1000
	}
	if ch.score > 0 {
		ch.makeRanges()
	}
	return ch
}

// sharesArray reports whether field i goes through the same array as an earlier field: two conditions
// may be met by different elements, whose keys are different entries.
func (x *index) sharesArray(i int) bool {
	if x.multi&(1<<i) == 0 {
		return false
	}
	for j := range i {
		if x.multi&(1<<j) != 0 && x.fields[j].path[0] == x.fields[i].path[0] {
			return true
		}
	}
	return false
}

// gives reports whether an index scan returns the sort order: its fields follow the
// pattern, all in the same or all in the opposite direction, where fields fixed by
// equality may be left out on both sides.
func (ch *choice) gives(order *query.Sort) (sorted, backward bool) {
	fixed := func(i int) bool {
		return i < len(ch.bounds) && len(ch.bounds[i]) == 1 && ch.bounds[i][0].IsPoint() && ch.index.multi&(1<<i) == 0
	}
	isFixed := map[string]bool{}
	for i, f := range ch.index.fields {
		if fixed(i) && !f.hashed {
			isFixed[f.name] = true
		}
	}
	i, directed := 0, false
	for _, want := range order.Fields() {
		if isFixed[want.Path] {
			continue
		}
		for i < len(ch.index.fields) && ch.index.fields[i].name != want.Path && fixed(i) {
			i++
		}
		if i >= len(ch.index.fields) {
			return false, false
		}
		f := ch.index.fields[i]
		if f.name != want.Path || f.hashed || ch.index.multi&(1<<i) != 0 {
			return false, false
		}
		against := want.Descending != f.descending
		if directed && against != backward {
			return false, false
		}
		backward, directed = against, true
		i++
	}
	return true, backward
}

// implies reports whether every document that matches f satisfies the partial filter, as far as
// comparisons and $exists of single fields can tell.
func implies(f, partial *query.Filter) bool {
	for name, v := range value.Elements(partial.Raw()) {
		if strings.HasPrefix(name, "$") {
			return false
		}
		wanted, given := partial.Bounds(name), f.Bounds(name)
		if op, arg := value.First(v.Value); v.Type == bson.TypeEmbeddedDocument && op == "$exists" && truthy(arg) {
			if query.IsEverything(given) || containsNull(given) {
				return false
			}
			continue
		}
		if query.IsEverything(wanted) || !query.Covers(wanted, given) {
			return false
		}
	}
	return true
}

func containsNull(intervals []query.Interval) bool {
	return slices.ContainsFunc(intervals, func(i query.Interval) bool { return i.Contains(value.Null()) })
}
