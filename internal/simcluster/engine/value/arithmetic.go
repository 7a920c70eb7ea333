package value

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Add is a + b with MongoDB's widening: int32 becomes int64 when it overflows, any
// double makes a double, any Decimal128 a Decimal128. ok is false when an int64 sum
// overflows (the value is then the double sum, as in aggregation; $inc fails instead)
// or an operand is not a number.
func Add(a, b bson.RawValue) (sum bson.RawValue, ok bool) {
	return combine(a, b, addInt64, func(x, y float64) float64 { return x + y }, addDecimal)
}

// Mul is a × b with the widening and the overflow rule of Add.
func Mul(a, b bson.RawValue) (product bson.RawValue, ok bool) {
	return combine(a, b, mulInt64, func(x, y float64) float64 { return x * y }, mulDecimal)
}

// Sub is a - b with the widening and the overflow rule of Add.
func Sub(a, b bson.RawValue) (difference bson.RawValue, ok bool) {
	return combine(a, b, func(x, y int64) (int64, bool) {
		d := x - y
		return d, (x >= 0) == (y >= 0) || (d >= 0) == (x >= 0)
	}, func(x, y float64) float64 { return x - y }, func(x, y bson.Decimal128) bson.Decimal128 {
		if y.IsInf() != 0 {
			return addDecimal(x, infinity(-y.IsInf()))
		}
		coef, exp := decimalParts(y)
		return addDecimal(x, makeDecimal(new(big.Int).Neg(coef), exp))
	})
}

func combine(a, b bson.RawValue, ints func(x, y int64) (int64, bool), floats func(x, y float64) float64,
	decimals func(x, y bson.Decimal128) bson.Decimal128,
) (bson.RawValue, bool) {
	if !IsNumber(a) || !IsNumber(b) {
		return bson.RawValue{}, false
	}
	if a.Type == bson.TypeDecimal128 || b.Type == bson.TypeDecimal128 {
		return Decimal(decimals(DecimalOf(a), DecimalOf(b))), true
	}
	x, xInt := integer(a)
	y, yInt := integer(b)
	if !xInt || !yInt {
		return Double(floats(Float(a), Float(b))), true
	}
	n, ok := ints(x, y)
	if !ok {
		return Double(floats(float64(x), float64(y))), false
	}
	if a.Type == bson.TypeInt32 && b.Type == bson.TypeInt32 && n == int64(int32(n)) {
		return Int32(int32(n)), true
	}
	return Int64(n), true
}

func addInt64(x, y int64) (int64, bool) {
	sum := x + y
	return sum, (x >= 0) != (y >= 0) || (sum >= 0) == (x >= 0)
}

func mulInt64(x, y int64) (int64, bool) {
	if x == 0 || y == 0 {
		return 0, true
	}
	hi, lo := bits.Mul64(magnitude(x), magnitude(y))
	if hi != 0 {
		return 0, false
	}
	if (x < 0) != (y < 0) {
		return -int64(lo), lo <= 1<<63
	}
	return int64(lo), lo <= math.MaxInt64
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func addDecimal(x, y bson.Decimal128) bson.Decimal128 {
	switch {
	case x.IsNaN() || y.IsNaN() || x.IsInf()*y.IsInf() < 0:
		return parseDecimal("NaN")
	case x.IsInf() != 0:
		return x
	case y.IsInf() != 0:
		return y
	}
	xc, xe := decimalParts(x)
	yc, ye := decimalParts(y)
	exp := min(xe, ye)
	sum := new(big.Int).Mul(xc, pow10(xe-exp))
	return makeDecimal(sum.Add(sum, new(big.Int).Mul(yc, pow10(ye-exp))), exp)
}

func mulDecimal(x, y bson.Decimal128) bson.Decimal128 {
	if x.IsNaN() || y.IsNaN() {
		return parseDecimal("NaN")
	}
	xc, xe := decimalParts(x)
	yc, ye := decimalParts(y)
	if xi, yi := x.IsInf(), y.IsInf(); xi != 0 || yi != 0 {
		sign := signOf(xi, xc) * signOf(yi, yc)
		if sign == 0 {
			return parseDecimal("NaN")
		}
		return infinity(sign)
	}
	return makeDecimal(new(big.Int).Mul(xc, yc), xe+ye)
}

func signOf(infinite int, coef *big.Int) int {
	if infinite != 0 {
		return infinite
	}
	return coef.Sign()
}

// decimalDigits is the precision of Decimal128; its exponents lie in [-6176, 6111].
const (
	decimalDigits = 34
	decimalMaxExp = 6111
	decimalMinExp = -6176
)

// decimalParts is coefficient × 10^exp of a finite value.
func decimalParts(d bson.Decimal128) (*big.Int, int) {
	coef, exp, err := d.BigInt()
	if err != nil {
		return new(big.Int), 0
	}
	return coef, exp
}

func decimalFloat(d bson.Decimal128) float64 {
	switch {
	case d.IsNaN():
		return math.NaN()
	case d.IsInf() != 0:
		return math.Inf(d.IsInf())
	}
	f, _ := strconv.ParseFloat(d.String(), 64) // out of range: ±Inf or 0, which is correct
	return f
}

func decimalLong(d bson.Decimal128) (int64, bool) {
	switch {
	case d.IsNaN():
		return 0, false
	case d.IsInf() > 0:
		return math.MaxInt64, false
	case d.IsInf() < 0:
		return math.MinInt64, false
	}
	coef, exp := decimalParts(d)
	exact := true
	switch {
	case exp > 0 && coef.Sign() != 0:
		if exp > 19 {
			exp = 19 // larger than any int64
		}
		coef = new(big.Int).Mul(coef, pow10(exp))
	case exp < 0:
		coef, exact = roundHalfEven(coef, -exp)
	}
	if coef.IsInt64() {
		return coef.Int64(), exact
	}
	if coef.Sign() < 0 {
		return math.MinInt64, false
	}
	return math.MaxInt64, false
}

// roundHalfEven divides by 10^digits.
func roundHalfEven(n *big.Int, digits int) (_ *big.Int, exact bool) {
	if digits > decimalDigits+1 {
		return new(big.Int), n.Sign() == 0
	}
	unit := pow10(digits)
	quotient, rest := new(big.Int).QuoRem(n, unit, new(big.Int))
	if rest.Sign() == 0 {
		return quotient, true
	}
	twice := new(big.Int).Lsh(rest.Abs(rest), 1)
	if c := twice.Cmp(unit); c > 0 || c == 0 && quotient.Bit(0) == 1 {
		quotient.Add(quotient, big.NewInt(int64(n.Sign())))
	}
	return quotient, false
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// DecimalOf converts a number to Decimal128; doubles keep 15 significant digits, as the server does.
func DecimalOf(v bson.RawValue) bson.Decimal128 {
	if v.Type == bson.TypeDecimal128 {
		return v.Decimal128()
	}
	if n, ok := integer(v); ok {
		return makeDecimal(big.NewInt(n), 0)
	}
	f := double(v)
	switch {
	case math.IsNaN(f):
		return parseDecimal("NaN")
	case math.IsInf(f, 0):
		return infinity(int(math.Copysign(1, f)))
	}
	return parseDecimal(strconv.FormatFloat(f, 'E', 14, 64))
}

func parseDecimal(s string) bson.Decimal128 {
	d, _ := bson.ParseDecimal128(s) // cannot fail: the text is in range
	return d
}

func infinity(sign int) bson.Decimal128 {
	if sign < 0 {
		return parseDecimal("-Infinity")
	}
	return parseDecimal("Infinity")
}

// makeDecimal rounds coef × 10^exp to 34 digits.
func makeDecimal(coef *big.Int, exp int) bson.Decimal128 {
	if extra := len(new(big.Int).Abs(coef).String()) - decimalDigits; extra > 0 {
		coef, _ = roundWide(coef, extra)
		exp += extra
	}
	for exp > decimalMaxExp && coef.Sign() != 0 && len(coef.String()) < decimalDigits {
		coef, exp = new(big.Int).Mul(coef, big.NewInt(10)), exp-1
	}
	if exp < decimalMinExp {
		coef, _ = roundWide(coef, decimalMinExp-exp)
		exp = decimalMinExp
	}
	d, ok := bson.ParseDecimal128FromBigInt(coef, exp)
	if !ok {
		return infinity(coef.Sign())
	}
	return d
}

// roundWide is roundHalfEven for coefficients of any length.
func roundWide(n *big.Int, digits int) (*big.Int, bool) {
	if digits <= decimalDigits+1 {
		return roundHalfEven(n, digits)
	}
	cut := digits - decimalDigits - 1
	return roundHalfEven(new(big.Int).Quo(n, pow10(cut)), decimalDigits+1)
}
