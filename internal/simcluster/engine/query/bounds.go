package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/value"
)

// Equality is a condition path = value that every matching document satisfies.
type Equality = expr.Equality

// Equalities are the equalities the filter demands at its top level (also through $and, $eq, $in
// of one value, and in $expr, as the server's rewriting does), in order.
func (f *Filter) Equalities() []Equality {
	if f.Empty() {
		return nil
	}
	var found []Equality
	equalities(f.root, func(path string, v bson.RawValue) { found = append(found, Equality{Path: path, Value: v}) })
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
	case *computed:
		for _, e := range n.expr.Equalities(n.env) {
			each(e.Path, e.Value)
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
func (f *Filter) Bounds(path string) []Interval { return f.IndexBounds(path, false) }

// IndexBounds is Bounds for an index in which arrays occur at the path (multikey): two conditions may
// then be met by two elements, so that only one of them can bound a scan.
func (f *Filter) IndexBounds(path string, multikey bool) []Interval {
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
	case *computed:
		for _, e := range n.expr.Equalities(n.env) {
			if e.Path == path {
				return union(points(e.Value)), true
			}
		}
	case *field:
		switch e, nested := n.test.(elemMatch); {
		case nested && e.fields && strings.HasPrefix(path, n.name+"."):
			return bounds(e.node, path[len(n.name)+1:], multikey)
		case nested && !e.fields && n.name == path:
			return bounds(e.node, path, false)
		case n.name == path:
			return testBounds(n.test)
		}
	}
	return nil, false
}

// narrower prefers lists of points, then the shorter list.
func narrower(a, b []Interval) bool {
	pa, pb := AllPoints(a), AllPoints(b)
	if pa != pb {
		return pa
	}
	return pa && len(a) < len(b)
}

func testBounds(t test) ([]Interval, bool) {
	switch t := t.(type) {
	case comparison:
		return comparisonBounds(t)
	case *oneOf:
		found := []Interval{}
		for _, v := range t.values {
			found = append(found, points(v)...)
		}
		for _, r := range t.regexes {
			found = append(found, regexBounds(r)...)
		}
		return union(found), true
	case *pattern:
		return union(regexBounds(t)), true
	}
	return nil, false
}

// points are the index keys of documents that equal v: null is also undefined, and an array is
// found by its first element as well as by itself.
func points(v bson.RawValue) []Interval {
	switch v.Type {
	case bson.TypeNull:
		return []Interval{point(value.Undefined()), point(v)}
	case bson.TypeArray:
		_, first := value.First(v.Value)
		if first.Type == 0 {
			first = value.Undefined()
		}
		return []Interval{point(first), point(v)}
	}
	return []Interval{point(v)}
}

func comparisonBounds(c comparison) ([]Interval, bool) {
	if c.op == equal {
		return union(points(c.operand)), true
	}
	lower := c.op == less || c.op == lessOrEqual
	inclusive := c.op == lessOrEqual || c.op == greaterOrEqual
	var around Interval
	switch {
	case c.operand.Type == bson.TypeMinKey || c.operand.Type == bson.TypeMaxKey:
		around = everything()
	case c.operand.Type == bson.TypeNull:
		if !inclusive {
			return []Interval{}, true
		}
		return points(c.operand), true
	case value.IsNaN(c.operand):
		if !inclusive {
			return []Interval{}, true
		}
		return []Interval{point(c.operand)}, true
	default:
		var ok bool
		if around, ok = bracket(c.operand); !ok {
			return nil, false
		}
	}
	if lower {
		around.High, around.HighInclusive = c.operand, inclusive
	} else {
		around.Low, around.LowInclusive = c.operand, inclusive
	}
	return union([]Interval{around}), true
}

// regexBounds: strings, narrowed by a literal prefix, and the regular expression as a value.
func regexBounds(p *pattern) []Interval {
	strings, _ := bracket(value.String(""))
	if prefix := p.prefix(); prefix != "" {
		strings.Low = value.String(prefix)
		if end := successor(prefix); end != "" {
			strings.High = value.String(end)
		}
	}
	re := bson.RawValue{Type: bson.TypeRegex, Value: []byte(p.source + "\x00" + p.flags + "\x00")}
	return []Interval{strings, point(re)}
}

// successor is the smallest byte string above all that begin with the prefix, "" if there is none.
func successor(prefix string) string {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1])
		}
	}
	return ""
}
