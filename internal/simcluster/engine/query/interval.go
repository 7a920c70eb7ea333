package query

import (
	"cmp"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// Interval is a range of values in canonical order. Low and High are never missing.
type Interval struct {
	Low, High                   bson.RawValue
	LowInclusive, HighInclusive bool
}

// IsPoint reports whether the interval holds one place of the order only.
func (i Interval) IsPoint() bool {
	return i.LowInclusive && i.HighInclusive && value.Equal(i.Low, i.High)
}

// Contains reports whether v lies in the interval; a missing value counts as null.
func (i Interval) Contains(v bson.RawValue) bool {
	if v.Type == 0 {
		v = value.Null()
	}
	low, high := value.Compare(i.Low, v), value.Compare(v, i.High)
	return (low < 0 || low == 0 && i.LowInclusive) && (high < 0 || high == 0 && i.HighInclusive)
}

// IsEverything reports whether the intervals are the one of all values.
func IsEverything(intervals []Interval) bool {
	return len(intervals) == 1 && intervals[0].Low.Type == bson.TypeMinKey && intervals[0].LowInclusive &&
		intervals[0].High.Type == bson.TypeMaxKey && intervals[0].HighInclusive
}

// AllPoints reports whether every interval holds one place only.
func AllPoints(intervals []Interval) bool {
	return !slices.ContainsFunc(intervals, func(i Interval) bool { return !i.IsPoint() })
}

// Hashed are the intervals of the hashes of values: points stay points, in the order of the hashes, and anything else
// is everything.
func Hashed(intervals []Interval) []Interval {
	if !AllPoints(intervals) {
		return []Interval{everything()}
	}
	hashes := make([]Interval, len(intervals))
	for i, in := range intervals {
		hashes[i] = point(value.Int64(value.Hash(in.Low)))
	}
	return union(hashes)
}

func point(v bson.RawValue) Interval { return Interval{v, v, true, true} }

func everything() Interval { return Interval{value.MinKey(), value.MaxKey(), true, true} }

func (i Interval) empty() bool {
	c := value.Compare(i.Low, i.High)
	return c > 0 || c == 0 && !(i.LowInclusive && i.HighInclusive)
}

// compareLow orders where intervals begin, compareHigh where they end.
func compareLow(a, b Interval) int {
	if c := value.Compare(a.Low, b.Low); c != 0 {
		return c
	}
	return cmp.Compare(asInt(b.LowInclusive), asInt(a.LowInclusive))
}

func compareHigh(a, b Interval) int {
	if c := value.Compare(a.High, b.High); c != 0 {
		return c
	}
	return cmp.Compare(asInt(a.HighInclusive), asInt(b.HighInclusive))
}

func asInt(is bool) int {
	if is {
		return 1
	}
	return 0
}

// union sorts and joins intervals that overlap or touch.
func union(intervals []Interval) []Interval {
	slices.SortStableFunc(intervals, compareLow)
	out := intervals[:0]
	for _, next := range intervals {
		if next.empty() {
			continue
		}
		if n := len(out); n > 0 {
			c := value.Compare(next.Low, out[n-1].High)
			if c < 0 || c == 0 && (next.LowInclusive || out[n-1].HighInclusive) {
				if compareHigh(next, out[n-1]) > 0 {
					out[n-1].High, out[n-1].HighInclusive = next.High, next.HighInclusive
				}
				continue
			}
		}
		out = append(out, next)
	}
	return out
}

// intersect takes two ascending lists of disjoint intervals.
func intersect(a, b []Interval) []Interval {
	out := []Interval{}
	for len(a) > 0 && len(b) > 0 {
		both := a[0]
		if compareLow(b[0], both) > 0 {
			both.Low, both.LowInclusive = b[0].Low, b[0].LowInclusive
		}
		ends := compareHigh(a[0], b[0])
		if ends > 0 {
			both.High, both.HighInclusive = b[0].High, b[0].HighInclusive
		}
		if !both.empty() {
			out = append(out, both)
		}
		if ends <= 0 {
			a = a[1:]
		}
		if ends >= 0 {
			b = b[1:]
		}
	}
	return out
}

// bracket is the range of all values of one canonical type, as the server's planner writes it.
func bracket(v bson.RawValue) (Interval, bool) {
	id := func(fill byte) bson.RawValue {
		var o bson.ObjectID
		for i := range o {
			o[i] = fill
		}
		return value.ObjectID(o)
	}
	date := func(n int64) bson.RawValue {
		return bson.RawValue{Type: bson.TypeDateTime, Value: value.Int64(n).Value}
	}
	emptyArray := bson.RawValue{Type: bson.TypeArray, Value: value.NewBuilder(5).Raw()}
	emptyDoc := value.Doc(value.NewBuilder(5).Raw())
	emptyBinary := bson.RawValue{Type: bson.TypeBinary, Value: make([]byte, 5)}
	switch value.Rank(v.Type) {
	case 10:
		return Interval{value.Double(math.Inf(-1)), value.Double(math.Inf(1)), true, true}, true
	case 15:
		return Interval{value.String(""), emptyDoc, true, false}, true
	case 20:
		return Interval{emptyDoc, emptyArray, true, false}, true
	case 30:
		return Interval{emptyBinary, id(0), true, false}, true
	case 35:
		return Interval{id(0), id(0xff), true, true}, true
	case 40:
		return Interval{value.Bool(false), value.Bool(true), true, true}, true
	case 45:
		return Interval{date(math.MinInt64), date(math.MaxInt64), true, true}, true
	case 47:
		return Interval{value.Timestamp(0, 0), value.Timestamp(math.MaxUint32, math.MaxUint32), true, true}, true
	}
	return Interval{}, false
}

// Covers reports whether every value of the inner intervals lies in the outer ones (both ascending and disjoint).
func Covers(outer, inner []Interval) bool {
	for _, in := range inner {
		if !slices.ContainsFunc(outer, func(o Interval) bool { return compareLow(o, in) <= 0 && compareHigh(o, in) >= 0 }) {
			return false
		}
	}
	return true
}
