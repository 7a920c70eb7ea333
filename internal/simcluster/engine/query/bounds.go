package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Equality is a condition path = value that every matching document satisfies.
type Equality struct {
	Path  string
	Value bson.RawValue
}

// Equalities are the equalities the filter demands at its top level (also through $and, $eq, and $in
// of one value), in order.
func (f *Filter) Equalities() []Equality {
	if f.Empty() {
		return nil
	}
	var found []Equality
	equalities(f.root, func(path string, v bson.RawValue) { found = append(found, Equality{path, v}) })
	return found
}

func equalities(n node, each func(path string, v bson.RawValue)) {
	switch n := n.(type) {
	case all:
		for _, part := range n {
			equalities(part, each)
		}
	case some:
		if len(n) == 1 {
			equalities(n[0], each)
		}
	case *field:
		switch t := n.test.(type) {
		case comparison:
			if t.op == equal {
				each(n.name, t.operand)
			}
		case *oneOf:
			if len(t.values) == 1 && len(t.regexes) == 0 {
				each(n.name, t.values[0])
			}
		}
	}
}

// Bounds are the intervals, ascending and disjoint, in which the value at path of every matching
// document lies: a superset where a condition cannot be expressed as intervals. It supposes that
// the value is no array, which holds for shard keys. [MinKey, MaxKey] if nothing is known.
func (f *Filter) Bounds(path string) []Interval { return f.bounds(path, false) }

// IndexBounds is Bounds for an index in which arrays occur at the path (multikey): two conditions may
// then be met by two elements, so that only one of them can bound a scan.
func (f *Filter) IndexBounds(path string, multikey bool) []Interval { return f.bounds(path, multikey) }

func (f *Filter) bounds(path string, multikey bool) []Interval {
	if !f.Empty() {
		if found, known := bounds(f.root, path, multikey); known {
			return found
		}
	}
	return []Interval{everything()}
}

func bounds(n node, path string, multikey bool) (found []Interval, known bool) {
	switch n := n.(type) {
	case all:
		for _, part := range n {
			next, ok := bounds(part, path, multikey)
			switch {
			case !ok:
			case !known:
				found, known = next, true
			case multikey:
				if narrower(next, found) {
					found = next
				}
			default:
				found = intersect(found, next)
			}
		}
		return found, known
	case some:
		for _, part := range n {
			next, ok := bounds(part, path, multikey)
			if !ok {
				return nil, false
			}
			found = append(found, next...)
		}
		return union(found), true
	case *field:
		if n.name == path {
			return testBounds(n.test)
		}
		if e, ok := n.test.(elementDocument); ok && strings.HasPrefix(path, n.name+".") {
			return bounds(e.filter, path[len(n.name)+1:], multikey)
		}
	}
	return nil, false
}

// narrower prefers lists of points, then the shorter list.
func narrower(a, b []Interval) bool {
	pa, pb := allPoints(a), allPoints(b)
	if pa != pb {
		return pa
	}
	return pa && len(a) < len(b)
}

func allPoints(intervals []Interval) bool {
	for _, i := range intervals {
		if !i.IsPoint() {
			return false
		}
	}
	return true
}
