package expr

import (
	"math"
	"math/big"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// mode is the rounding mode.
type mode uint8

const (
	halfEven mode = iota
	towardZero
	down
	up
)

func roundingOperators(name string) parser {
	switch name {
	case "$abs", "$ceil", "$floor", "$sqrt", "$exp", "$ln", "$log10":
		return fixed(1, evalUnary)
	case "$pow":
		return fixed(2, evalPow)
	case "$round", "$trunc":
		return between(1, 2, evalRound)
	}
	return nil
}

func evalUnary(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	v := args[0]
	if nullish(v) {
		return value.Null(), nil
	}
	n, ok := number(v)
	if !ok {
		return missing(), status.Errorf(28765, "%s only supports numeric types, not %s", name, TypeName(v))
	}
	switch name {
	case "$abs":
		if n.kind == kindLong && n.i == math.MinInt64 {
			return missing(), status.Errorf(28680, "can't take $abs of long long min")
		}
		if n.kind == kindDouble {
			return value.Double(math.Abs(n.f)), nil // also for -0
		}
		if n.float() < 0 {
			n = subtract(num{}, n)
		}
		return n.value(), nil
	case "$ceil":
		return roundTo(n, 0, up).value(), nil
	case "$floor":
		return roundTo(n, 0, down).value(), nil
	case "$sqrt":
		if n.float() < 0 {
			return missing(), status.Errorf(28714, "$sqrt's argument must be greater than or equal to 0")
		}
		return value.Double(math.Sqrt(n.float())), nil
	case "$exp":
		return value.Double(math.Exp(n.float())), nil
	case "$ln":
		if n.float() <= 0 {
			return missing(), status.Errorf(28766, "$ln's argument must be a positive number, but is %s", Text(v))
		}
		return value.Double(math.Log(n.float())), nil
	}
	if n.float() <= 0 {
		return missing(), status.Errorf(28761, "$log10's argument must be a positive number, but is %s", Text(v))
	}
	return value.Double(math.Log10(n.float())), nil
}

// evalPow keeps integers while the power is one that fits.
func evalPow(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	a, aok := number(args[0])
	b, bok := number(args[1])
	switch {
	case nullish(args[0]) || nullish(args[1]):
		return value.Null(), nil
	case !aok:
		return missing(), status.Errorf(28762, "$pow's base must be numeric, not %s", TypeName(args[0]))
	case !bok:
		return missing(), status.Errorf(28763, "$pow's exponent must be numeric, not %s", TypeName(args[1]))
	case a.zero() && b.float() < 0:
		return missing(), status.Errorf(28764, "$pow cannot take a base of 0 and a negative exponent")
	case a.integral() && b.integral() && b.i >= 0 && b.i < 64:
		p := new(big.Int).Exp(big.NewInt(a.i), big.NewInt(b.i), nil)
		if p.IsInt64() {
			return num{kind: max(a.kind, b.kind), i: p.Int64()}.value(), nil
		}
	}
	return value.Double(math.Pow(a.float(), b.float())), nil
}

func evalRound(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	v, place := args[0], int64(0)
	if len(args) == 2 {
		if nullish(args[1]) {
			return value.Null(), nil
		}
		p, ok := number(args[1])
		if ok {
			place, ok = p.exactInt()
		}
		if !ok {
			return missing(), status.Errorf(51082, "precision argument to  %s must be a integral value", name)
		}
		if place < -20 || place > 100 {
			return missing(), status.Errorf(51083, "cannot apply %s with precision value %d value must be in [-20, 100]", name, place)
		}
	}
	if nullish(v) {
		return value.Null(), nil
	}
	n, ok := number(v)
	if !ok {
		return missing(), status.Errorf(51081, "%s only supports numeric types, not %s", name, TypeName(v))
	}
	m := halfEven
	if name == "$trunc" {
		m = towardZero
	}
	return roundTo(n, int(place), m).value(), nil
}

// roundTo rounds to a number of decimal places (negative: left of the point).
// The type stays what it was.
func roundTo(n num, place int, m mode) num {
	switch {
	case n.integral() && place >= 0:
		return n
	case n.integral():
		d := roundDecimal(decimalOfInt(n.i), place, m)
		i := new(big.Int).Mul(d.coeff, pow10(max(d.exp, 0)))
		if !i.IsInt64() {
			return doubleNum(n.float())
		}
		return num{kind: n.kind, i: i.Int64()}
	case n.kind == kindDecimal:
		return num{kind: kindDecimal, d: roundDecimal(n.d, place, m)}
	case math.IsNaN(n.f) || math.IsInf(n.f, 0):
		return n
	case place == 0:
		switch m {
		case halfEven:
			return doubleNum(math.RoundToEven(n.f))
		case towardZero:
			return doubleNum(math.Trunc(n.f))
		case down:
			return doubleNum(math.Floor(n.f))
		}
		return doubleNum(math.Ceil(n.f))
	}
	// Exact digits of the double, so that 2.675 rounds as the number it is.
	d, ok := parseExact(n.f)
	if !ok {
		return n
	}
	f, _ := strconv.ParseFloat(roundDecimal(d, place, m).text(), 64)
	return doubleNum(f)
}

// parseExact is the double's value to 34 digits.
func parseExact(f float64) (decimal, bool) {
	return parseDecimal(strconv.FormatFloat(f, 'e', digits-1, 64))
}

func (d decimal) text() string { return d.coeff.String() + "e" + strconv.Itoa(d.exp) }

func roundDecimal(d decimal, place int, m mode) decimal {
	if d.form != formFinite || d.exp >= -place {
		return d
	}
	if m == halfEven {
		return d.toExponent(-place)
	}
	q, r := new(big.Int).QuoRem(d.coeff, pow10(-place-d.exp), new(big.Int))
	if m == up && r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	if m == down && r.Sign() < 0 {
		q.Sub(q, big.NewInt(1))
	}
	return decimal{coeff: q, exp: -place}
}
