package value

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Add is a + b with MongoDB's widening: int32 becomes int64 when it overflows, any
// double makes a double. ok is false when an int64 sum
// overflows (the value is then the double sum, as in aggregation; $inc fails instead)
// or an operand is not a number. A Decimal128 counts as a double, where a server keeps its digits.
func Add(a, b bson.RawValue) (sum bson.RawValue, ok bool) {
	return combine(a, b, addInt64, func(x, y float64) float64 { return x + y })
}

// Mul is a × b with the widening and the overflow rule of Add.
func Mul(a, b bson.RawValue) (product bson.RawValue, ok bool) {
	return combine(a, b, mulInt64, func(x, y float64) float64 { return x * y })
}

// Sub is a - b with the widening and the overflow rule of Add.
func Sub(a, b bson.RawValue) (difference bson.RawValue, ok bool) {
	return combine(a, b, func(x, y int64) (int64, bool) {
		d := x - y
		return d, (x >= 0) == (y >= 0) || (d >= 0) == (x >= 0)
	}, func(x, y float64) float64 { return x - y })
}

func combine(a, b bson.RawValue, ints func(x, y int64) (int64, bool), floats func(x, y float64) float64) (bson.RawValue, bool) {
	if !IsNumber(a) || !IsNumber(b) {
		return bson.RawValue{}, false
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

// decimalDigits is the precision of Decimal128.
const decimalDigits = 34

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
