package engine

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
)

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
		points := allPoints(intervals)
		if field.hashed {
			if !points {
				break
			}
			intervals = hashPoints(intervals)
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

func allPoints(intervals []query.Interval) bool {
	return !slices.ContainsFunc(intervals, func(i query.Interval) bool { return !i.IsPoint() })
}

func containsNull(intervals []query.Interval) bool {
	return slices.ContainsFunc(intervals, func(i query.Interval) bool { return i.Contains(value.Null()) })
}

// hashPoints turns points into the ascending points of their hashes.
func hashPoints(intervals []query.Interval) []query.Interval {
	hashes := make([]query.Interval, len(intervals))
	for i, in := range intervals {
		v := value.Int64(value.Hash(in.Low))
		hashes[i] = query.Interval{Low: v, High: v, LowInclusive: true, HighInclusive: true}
	}
	slices.SortFunc(hashes, func(a, b query.Interval) int { return value.Compare(a.Low, b.Low) })
	return slices.CompactFunc(hashes, func(a, b query.Interval) bool { return value.Equal(a.Low, b.Low) })
}
