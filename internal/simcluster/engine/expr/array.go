package expr

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func arrayOperators(name string) parser {
	switch name {
	case "$size":
		return fixed(1, evalSize)
	case "$in":
		return fixed(2, evalIn)
	case "$indexOfArray":
		return between(2, 4, evalIndexOfArray)
	case "$arrayElemAt":
		return fixed(2, evalElemAt)
	case "$first", "$last":
		return fixed(1, evalEnd)
	case "$concatArrays":
		return variadic(evalConcatArrays)
	case "$isArray":
		return fixed(1, func(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
			return value.Bool(args[0].Type == bson.TypeArray), nil
		})
	case "$reverseArray":
		return fixed(1, evalReverse)
	case "$anyElementTrue", "$allElementsTrue":
		return fixed(1, evalElementsTrue)
	}
	return nil
}

func evalSize(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	if args[0].Type != bson.TypeArray {
		return missing(), status.Errorf(17124, "The argument to $size must be an array, but was of type: %s", TypeName(args[0]))
	}
	return value.Int32(int32(value.Len(args[0].Value))), nil
}

func evalIn(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	if args[1].Type != bson.TypeArray {
		return missing(), status.Errorf(40081, "$in requires an array as a second argument, found: %s", TypeName(args[1]))
	}
	for v := range items(args[1].Value) {
		if value.Equal(args[0], v) {
			return value.Bool(true), nil
		}
	}
	return value.Bool(false), nil
}

func evalIndexOfArray(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) {
		return value.Null(), nil
	}
	if args[0].Type != bson.TypeArray {
		return missing(), status.Errorf(40090, "$indexOfArray requires an array as a first argument, found: %s", TypeName(args[0]))
	}
	list := slice(args[0].Value)
	limits := [2]int{0, len(list)}
	for i, v := range args[2:] {
		at, err := position(name, [...]string{"starting", "ending"}[i], v)
		if err != nil {
			return missing(), err
		}
		limits[i] = at
	}
	for i := limits[0]; i < min(limits[1], len(list)); i++ {
		if value.Equal(list[i], args[1]) {
			return value.Int32(int32(i)), nil
		}
	}
	return value.Int32(-1), nil
}

func evalElemAt(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) || nullish(args[1]) {
		return value.Null(), nil
	}
	if args[0].Type != bson.TypeArray {
		return missing(), status.Errorf(28689, "%s's first argument must be an array, but is %s", name, TypeName(args[0]))
	}
	n, ok := number(args[1])
	if !ok {
		return missing(), status.Errorf(28690, "%s's second argument must be a numeric value, but is %s", name, TypeName(args[1]))
	}
	i, ok := n.index()
	if !ok {
		return missing(), status.Errorf(28691, "%s's second argument must be representable as a 32-bit integer: %s", name, Text(args[1]))
	}
	return element(args[0].Value, i), nil
}

// element is the i-th element, counted from the end when negative; missing
// outside of the array.
func element(array []byte, i int) bson.RawValue {
	if i < 0 {
		i += value.Len(array)
	}
	for v := range items(array) {
		if i == 0 {
			return v
		}
		i--
	}
	return missing()
}

func evalEnd(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	switch {
	case nullish(args[0]):
		return value.Null(), nil
	case args[0].Type != bson.TypeArray:
		return missing(), status.Errorf(28689, "%s's argument must be an array, but is %s", name, TypeName(args[0]))
	case name == "$first":
		return element(args[0].Value, 0), nil
	}
	return element(args[0].Value, -1), nil
}

func evalConcatArrays(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	b := value.NewBuilder(64)
	for _, v := range args {
		if nullish(v) {
			return value.Null(), nil
		}
		if v.Type != bson.TypeArray {
			return missing(), status.Errorf(28664, "$concatArrays only supports arrays, not %s", TypeName(v))
		}
		for item := range items(v.Value) {
			b.Push(item)
		}
	}
	return arrayValue(b), nil
}

func evalReverse(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) {
		return value.Null(), nil
	}
	if args[0].Type != bson.TypeArray {
		return missing(), status.Errorf(34435, "The argument to $reverseArray must be an array, but was of type: %s", TypeName(args[0]))
	}
	list := slice(args[0].Value)
	slices.Reverse(list)
	return value.Array(list...), nil
}

func evalElementsTrue(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	whole := name == "$allElementsTrue"
	if args[0].Type != bson.TypeArray {
		code := int32(17041)
		if whole {
			code = 17040
		}
		return missing(), status.Errorf(code, "%s's argument must be an array, but is %s", name, TypeName(args[0]))
	}
	for v := range items(args[0].Value) {
		if Truthy(v) != whole {
			return value.Bool(!whole), nil
		}
	}
	return value.Bool(whole), nil
}
