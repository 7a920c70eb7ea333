package value

import (
	"math"
	"math/big"
	"math/bits"

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
