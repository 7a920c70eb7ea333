package actions

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// mostRanges is how many moved ranges of one plan are counted: each is up to two counts of
// MostCounted rows.
const mostRanges = 4

// rangeRows returns the rows of the ranges that steps move, without the collections that are
// counted by project. A range that no filter describes exactly has no Match.
func (s Situation) rangeRows(steps []operation.Step, byProject map[topology.Namespace]bool) (out []Rows) {
	for _, step := range steps {
		c := s.Table.Collection(step.NS)
		same := func(r Rows) bool {
			return r.NS == step.NS && slices.Equal(r.Min, step.Min) && slices.Equal(r.Max, step.Max)
		}
		if !step.Migrates() || c == nil || byProject[step.NS] || slices.ContainsFunc(out, same) {
			continue
		}
		if len(out) == mostRanges {
			return append(out, Rows{NS: step.NS}) // stands for all that are not counted
		}
		out = append(out, Rows{NS: step.NS, Min: step.Min, Max: step.Max, Match: rangeFilter(c.Key, step.Min, step.Max)})
	}
	return out
}

// rangeFilter is a filter for the rows of [min, max) of a shard key; nil if there is none. Comparisons
// in a query match values of one type only, while a range has rows of all types between its bounds. So
// only ranges are described whose bounds differ in one field, in which both have the same type.
func rangeFilter(key shardkey.Pattern, min, max bson.Raw) bson.Raw {
	fields := key.Fields()
	from, errFrom := min.Values()
	to, errTo := max.Values()
	if errFrom != nil || errTo != nil || len(from) != len(fields) || len(to) != len(fields) || key.Hashed() >= 0 {
		return nil
	}
	filter := bson.D{}
	i := 0
	for ; i < len(fields) && sameValue(from[i], to[i]); i++ {
		filter = append(filter, bson.E{Key: fields[i].Name, Value: bson.D{{Key: "$eq", Value: from[i]}}})
	}
	if i == len(fields) {
		return nil // an empty range
	}
	lower, okLower := edge(from[i+1:], "$gte", "$gt")
	upper, okUpper := edge(to[i+1:], "$lt", "$lte")
	switch {
	case !okLower || !okUpper:
		return nil
	case from[i].Type == bson.TypeMinKey && to[i].Type == bson.TypeMaxKey:
	case typeClass(from[i]) == 0 || typeClass(from[i]) != typeClass(to[i]):
		return nil
	default:
		filter = append(filter, bson.E{Key: fields[i].Name, Value: bson.D{{Key: lower, Value: from[i]}, {Key: upper, Value: to[i]}}})
	}
	raw, err := bson.Marshal(filter)
	if err != nil {
		return nil
	}
	return raw
}

// edge is the operator for a bound whose later fields have these values: lowest if they are all MinKey,
// or there are none, and highest if they are all MaxKey.
func edge(later []bson.RawValue, lowest, highest string) (operator string, ok bool) {
	all := func(t bson.Type) bool {
		return !slices.ContainsFunc(later, func(v bson.RawValue) bool { return v.Type != t })
	}
	switch {
	case all(bson.TypeMinKey):
		return lowest, true
	case all(bson.TypeMaxKey):
		return highest, true
	}
	return "", false
}

// sameValue reports whether two values are equal in a shard key, in which 5 and 5.0 are.
func sameValue(a, b bson.RawValue) bool {
	if a.Type == b.Type {
		return slices.Equal(a.Value, b.Value)
	}
	return typeClass(a) == classNumber && typeClass(b) == classNumber && a.AsFloat64() == b.AsFloat64()
}

// Classes of types that are compared with each other in a query; 0 is any other type.
const (
	classNumber = iota + 1
	classText
	classObjectID
	classTime
)

func typeClass(v bson.RawValue) int {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble:
		return classNumber
	case bson.TypeString:
		return classText
	case bson.TypeObjectID:
		return classObjectID
	case bson.TypeDateTime:
		return classTime
	}
	return 0
}
