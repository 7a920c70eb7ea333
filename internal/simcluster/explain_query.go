package simcluster

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// predicate is one condition of a filter in the server's normal form.
type predicate struct {
	path  string
	rank  int // order among operators
	shown bson.E
	tight bool // index bounds on the path are equivalent to it
}

// parsedQuery is a filter in the normal form that explain shows: conditions joined
// by $and, sorted by operator and path (db/matcher/expression.cpp).
func parsedQuery(filter bson.Raw) bson.D { return andAll(predicates(filter)) }

func andAll(list []predicate) bson.D {
	switch len(list) {
	case 0:
		return bson.D{}
	case 1:
		return bson.D{list[0].shown}
	}
	all := make(bson.A, len(list))
	for i, p := range list {
		all[i] = bson.D{p.shown}
	}
	return bson.D{{Key: "$and", Value: all}}
}

// operatorRank is the order of operators in a normal form: the order of
// MatchExpression::MatchType.
var operatorRank = [...]string{"$and", "$or", "$elemMatch", "$size", "$eq", "$lte", "$lt", "$gt", "$gte", "$regex",
	"$exists", "$in", "$not", "$nor", "$type", "$expr"}

func rankOf(op string) int {
	if i := slices.Index(operatorRank[:], op); i >= 0 {
		return i
	}
	return len(operatorRank)
}

// predicates flattens a filter and sorts it.
func predicates(filter bson.Raw) []predicate {
	list := flatten(nil, filter)
	slices.SortStableFunc(list, func(a, b predicate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.path, b.path))
	})
	return list
}

func flatten(list []predicate, filter bson.Raw) []predicate {
	for e := value.Read(filter); e.Next(); {
		name := string(e.Key)
		switch {
		case name == "$and" && e.Value.Type == bson.TypeArray:
			for item := range value.Items(e.Value) {
				if d, ok := item.DocumentOK(); ok {
					list = flatten(list, d)
				}
			}
		case name == "$comment":
		case (name == "$or" || name == "$nor") && e.Value.Type == bson.TypeArray:
			branches := bson.A{}
			for item := range value.Items(e.Value) {
				if d, ok := item.DocumentOK(); ok {
					branches = append(branches, parsedQuery(d))
				}
			}
			list = append(list, predicate{rank: rankOf(name), shown: bson.E{Key: name, Value: branches}})
		case strings.HasPrefix(name, "$"):
			list = append(list, predicate{rank: rankOf(name), shown: bson.E{Key: name, Value: e.Value}})
		default:
			list = conditions(list, name, e.Value)
		}
	}
	return list
}

// conditions adds what a filter says about one path.
func conditions(list []predicate, path string, v bson.RawValue) []predicate {
	d, ok := v.DocumentOK()
	first, _ := value.First(d)
	if !ok || !strings.HasPrefix(first, "$") {
		return append(list, single(path, "$eq", v))
	}
	for e := value.Read(d); e.Next(); {
		switch op := string(e.Key); op {
		case "$ne":
			list = append(list, negated(path, single(path, "$eq", e.Value)))
		case "$nin":
			list = append(list, negated(path, single(path, "$in", e.Value)))
		case "$in":
			list = append(list, single(path, "$in", e.Value))
		case "$options":
		default:
			list = append(list, single(path, op, e.Value))
		}
	}
	return list
}

func single(path, op string, v bson.RawValue) predicate {
	if op == "$in" && v.Type == bson.TypeArray {
		items := slices.SortedStableFunc(value.Items(v), value.Compare)
		items = slices.CompactFunc(items, value.Equal)
		if len(items) == 1 && items[0].Type != bson.TypeRegex {
			return single(path, "$eq", items[0])
		}
		v = value.Array(items...)
	}
	p := predicate{path: path, rank: rankOf(op), shown: bson.E{Key: path, Value: bson.D{{Key: op, Value: v}}}}
	switch op {
	case "$eq", "$lt", "$lte", "$gt", "$gte":
		// null also matches missing fields, which an index cannot distinguish.
		p.tight = v.Type != bson.TypeNull && v.Type != bson.TypeArray
	case "$in":
		p.tight = !slices.ContainsFunc(slices.Collect(value.Items(v)), func(i bson.RawValue) bool {
			return i.Type == bson.TypeNull || i.Type == bson.TypeArray || i.Type == bson.TypeRegex
		})
	}
	return p
}

func negated(path string, p predicate) predicate {
	inner := p.shown.Value
	return predicate{path: path, rank: rankOf("$not"), shown: bson.E{Key: path, Value: bson.D{{Key: "$not", Value: inner}}}}
}
