package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func rangeOperators(name string) parser {
	switch name {
	case "$slice":
		return between(2, 3, evalSlice)
	case "$range":
		return between(2, 3, evalRange)
	}
	return nil
}

// evalSlice is {$slice: [array, n]} (the first n, or the last -n) and
// {$slice: [array, position, n]}.
func evalSlice(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	for _, v := range args {
		if nullish(v) {
			return value.Null(), nil
		}
	}
	if args[0].Type != bson.TypeArray {
		return missing(), status.Errorf(28724, "First argument to $slice must be an array, but is of type: %s", TypeName(args[0]))
	}
	var at [2]int
	for i, v := range args[1:] {
		which := [...]string{"Second", "Third"}[i]
		n, ok := number(v)
		if !ok {
			return missing(), status.Errorf(28725+2*int32(i),
				"%s argument to $slice must be a numeric value, but is of type: %s", which, TypeName(v))
		}
		if at[i], ok = n.index(); !ok {
			return missing(), status.Errorf(28726+2*int32(i), "%s argument to $slice can't be represented as a 32-bit integer: %s", which, Text(v))
		}
	}
	list := slice(args[0].Value)
	start, count := 0, at[0]
	switch {
	case len(args) == 3:
		if at[1] <= 0 {
			return missing(), status.Errorf(28729, "Third argument to $slice must be positive: %d", at[1])
		}
		start, count = at[0], at[1]
		if start < 0 {
			start = max(len(list)+start, 0)
		}
	case count < 0:
		start = max(len(list)+count, 0)
		count = -count
	}
	start = min(start, len(list))
	end := start + min(count, len(list)-start)
	return value.Array(list[start:end]...), nil
}

// maxRange bounds the result of $range to the server's 100 MB.
const maxRange = 100 << 20 / 16

func evalRange(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	at := [3]int{0, 0, 1}
	for i, v := range args {
		what := [...]string{"starting", "ending", "step"}[i]
		n, ok := number(v)
		if !ok {
			return missing(), status.Errorf(34443+2*int32(i), "$range requires a numeric %s value, found value of type: %s", what, TypeName(v))
		}
		if at[i], ok = n.index(); !ok {
			return missing(), status.Errorf(34444+2*int32(i),
				"$range requires a %s value that can be represented as a 32-bit integer, found value: %s", what, Text(v))
		}
	}
	start, end, step := at[0], at[1], at[2]
	if step == 0 {
		return missing(), status.Errorf(34449, "$range requires a non-zero step value")
	}
	b := value.NewBuilder(64)
	for i := start; step > 0 && i < end || step < 0 && i > end; i += step {
		if b.Count() > maxRange {
			return missing(), status.Errorf(status.ExceededMemoryLimit,
				"$range would use too much memory and cannot spill to disk. Memory limit: 104857600 bytes")
		}
		b.Push(value.Int32(int32(i)))
	}
	return arrayValue(b), nil
}
