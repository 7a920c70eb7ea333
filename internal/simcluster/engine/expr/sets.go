package expr

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func setOperators(name string) parser {
	switch name {
	case "$setUnion", "$setIntersection", "$setEquals":
		return variadic(evalSets)
	case "$setDifference", "$setIsSubset":
		return fixed(2, evalTwoSets)
	}
	return nil
}

// sorted is the set of an array's elements in canonical order.
func sorted(array bson.RawValue) []bson.RawValue {
	list := slice(array.Value)
	slices.SortStableFunc(list, value.Compare)
	return slices.CompactFunc(list, value.Equal)
}

func contains(set []bson.RawValue, v bson.RawValue) bool {
	_, ok := slices.BinarySearchFunc(set, v, value.Compare)
	return ok
}

// evalSets is union, intersection (both in canonical order) and equality.
func evalSets(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	var acc []bson.RawValue
	equal := true
	for i, v := range args {
		if nullish(v) && name != "$setEquals" {
			return value.Null(), nil
		}
		if v.Type != bson.TypeArray {
			code := map[string]int32{"$setUnion": 17043, "$setIntersection": 17047, "$setEquals": 17044}[name]
			return missing(), status.Errorf(code, "All operands of %s must be arrays. One argument is of type: %s", name, TypeName(v))
		}
		set := sorted(v)
		switch {
		case i == 0:
			acc = set
		case name == "$setUnion":
			acc = append(acc, set...)
			slices.SortStableFunc(acc, value.Compare)
			acc = slices.CompactFunc(acc, value.Equal)
		case name == "$setIntersection":
			acc = slices.DeleteFunc(acc, func(v bson.RawValue) bool { return !contains(set, v) })
		default:
			equal = equal && slices.EqualFunc(acc, set, value.Equal)
		}
	}
	if name == "$setEquals" {
		return value.Bool(equal), nil
	}
	return value.Array(acc...), nil
}

// evalTwoSets is difference, in the order of the first operand, and subset.
func evalTwoSets(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	difference := name == "$setDifference"
	code := int32(17046)
	if difference {
		if nullish(args[0]) || nullish(args[1]) {
			return value.Null(), nil
		}
		code = 17048
	}
	for i, v := range args {
		if v.Type != bson.TypeArray {
			which := [...]string{"First", "Second"}[i]
			if !difference {
				i = -4 * i // 17046 and 17042
			}
			return missing(), status.Errorf(code+int32(i), "both operands of %s must be arrays. %s argument is of type: %s",
				name, which, TypeName(v))
		}
	}
	second := sorted(args[1])
	if !difference {
		for v := range items(args[0].Value) {
			if !contains(second, v) {
				return value.Bool(false), nil
			}
		}
		return value.Bool(true), nil
	}
	var out []bson.RawValue
	for v := range items(args[0].Value) {
		if !contains(second, v) && !slices.ContainsFunc(out, func(o bson.RawValue) bool { return value.Equal(o, v) }) {
			out = append(out, v)
		}
	}
	return value.Array(out...), nil
}
