package expr

import (
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func substringOperators(name string) parser {
	switch name {
	case "$substrBytes", "$substr":
		return fixed(3, evalSubstrBytes)
	case "$substrCP":
		return fixed(3, evalSubstrCP)
	}
	return nil
}

// evalSubstrBytes cuts bytes; a negative length means up to the end. It
// refuses to cut through a code point.
func evalSubstrBytes(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	s, err := coerced(args[0])
	if err != nil {
		return missing(), err
	}
	from, ok := number(args[1])
	if !ok {
		return missing(), status.Errorf(16034, "%s:  starting index must be a numeric type (is BSON type %s)", name, TypeName(args[1]))
	}
	count, ok := number(args[2])
	if !ok {
		return missing(), status.Errorf(16035, "%s:  length must be a numeric type (is BSON type %s)", name, TypeName(args[2]))
	}
	start, length := clamp(from), clamp(count)
	if start < 0 {
		return missing(), status.Errorf(50752, "%s:  starting index must be non-negative (got: %d)", name, start)
	}
	if start >= len(s) {
		return value.String(""), nil
	}
	end := len(s)
	if length >= 0 && length < end-start {
		end = start + length
	}
	if !utf8.RuneStart(s[start]) {
		return missing(), status.Errorf(28656, "%s:  Invalid range, starting index is a UTF-8 continuation byte.", name)
	}
	if end < len(s) && !utf8.RuneStart(s[end]) {
		return missing(), status.Errorf(28657, "%s:  Invalid range, ending index is in the middle of a UTF-8 character.", name)
	}
	return value.String(s[start:end]), nil
}

// clamp is a number as an int, fractions cut, far values at ±2^31.
func clamp(n num) int {
	return int(max(min(n.float(), 1<<31), -(1 << 31)))
}

func evalSubstrCP(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	s, err := coerced(args[0])
	if err != nil {
		return missing(), err
	}
	var at [2]int
	for i, what := range [...]string{"starting index", "length"} {
		n, ok := number(args[i+1])
		if !ok {
			return missing(), status.Errorf(34450+2*int32(i), "$substrCP: %s must be a numeric type (is BSON type %s)", what, TypeName(args[i+1]))
		}
		if at[i], ok = n.index(); !ok {
			return missing(), status.Errorf(34451+2*int32(i),
				"$substrCP: %s cannot be represented as a 32-bit integral value: %s", what, Text(args[i+1]))
		}
	}
	if at[1] < 0 {
		return missing(), status.Errorf(34454, "$substrCP: length must be a nonnegative integer.")
	}
	if at[0] < 0 {
		return missing(), status.Errorf(34455, "$substrCP: the starting index must be nonnegative integer.")
	}
	start := byteOffset(s, at[0])
	return value.String(s[start : start+byteOffset(s[start:], at[1])]), nil
}
