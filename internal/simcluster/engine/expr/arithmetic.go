package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func arithmeticOperators(name string) parser {
	switch name {
	case "$add":
		return variadic(evalAdd)
	case "$multiply":
		return variadic(evalMultiply)
	case "$subtract":
		return fixed(2, evalSubtract)
	case "$divide", "$mod":
		return fixed(2, evalDivide)
	}
	return nil
}

// evalAdd sums numbers and at most one date; any null operand makes null.
func evalAdd(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	total, dated := num{}, false
	for _, v := range args {
		if nullish(v) {
			return value.Null(), nil
		}
		n, ok := number(v)
		switch {
		case ok:
		case v.Type == bson.TypeDateTime:
			if dated {
				return missing(), status.Errorf(16612, "only one date allowed in an $add expression")
			}
			dated, n = true, longNum(millis(v))
		default:
			return missing(), status.Errorf(status.TypeMismatch, "$add only supports numeric or date types, not %s", TypeName(v))
		}
		total = add(total, n)
	}
	if dated {
		return shifted(total)
	}
	return total.value(), nil
}

// shifted is a number of milliseconds as a date; fractions are rounded.
func shifted(n num) (bson.RawValue, error) {
	if n.integral() {
		return dateValue(n.i), nil
	}
	ms, ok := roundTo(n, 0, halfEven).exactInt()
	if !ok {
		return missing(), status.Errorf(status.Overflow, "date overflow")
	}
	return dateValue(ms), nil
}

func evalMultiply(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	product := num{kind: kindInt, i: 1}
	for _, v := range args {
		if nullish(v) {
			return value.Null(), nil
		}
		n, ok := number(v)
		if !ok {
			return missing(), status.Errorf(status.TypeMismatch, "$multiply only supports numeric types, not %s", TypeName(v))
		}
		product = multiply(product, n)
	}
	return product.value(), nil
}

func evalSubtract(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	l, r := args[0], args[1]
	if nullish(l) || nullish(r) {
		return value.Null(), nil
	}
	a, aok := number(l)
	b, bok := number(r)
	switch {
	case aok && bok:
		return subtract(a, b).value(), nil
	case l.Type == bson.TypeDateTime && r.Type == bson.TypeDateTime:
		return value.Int64(millis(l) - millis(r)), nil
	case l.Type == bson.TypeDateTime && bok:
		return shifted(subtract(longNum(millis(l)), b))
	}
	return missing(), status.Errorf(status.TypeMismatch, "can't $subtract %s from %s", TypeName(r), TypeName(l))
}

// evalDivide is $divide, which always leaves the integers, and $mod.
func evalDivide(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	l, r := args[0], args[1]
	a, aok := number(l)
	b, bok := number(r)
	switch {
	case !aok && !nullish(l) || !bok && !nullish(r):
		code := int32(status.TypeMismatch)
		if name == "$mod" {
			code = 16611
		}
		return missing(), status.Errorf(code, "%s only supports numeric types, not %s and %s", name, TypeName(l), TypeName(r))
	case !aok || !bok:
		return value.Null(), nil
	case b.zero() && name == "$mod":
		return missing(), status.Errorf(16610, "can't $mod by zero")
	case b.zero():
		return missing(), status.Errorf(status.BadValue, "can't $divide by zero")
	case name == "$mod":
		return modulo(a, b).value(), nil
	case max(a.kind, b.kind) == kindDecimal:
		return a.decimal().divide(b.decimal()).value(), nil
	}
	return value.Double(a.float() / b.float()), nil
}
