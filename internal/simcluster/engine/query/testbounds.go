package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

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
	case elementValue:
		return testBounds(t.test)
	case every:
		var found []Interval
		known := false
		for _, part := range t {
			next, ok := testBounds(part)
			switch {
			case ok && known:
				found = intersect(found, next)
			case ok:
				found, known = next, true
			}
		}
		return found, known
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
