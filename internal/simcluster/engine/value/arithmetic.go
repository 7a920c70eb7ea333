package value

import (
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Add is a + b with MongoDB's widening: int32 becomes int64 when it overflows, any
// double makes a double. ok is false when an int64 sum
// overflows (the value is then the double sum, as in aggregation; $inc fails instead)
// or an operand is not a number. A Decimal128 counts as a double, where a server keeps its digits.
func Add(a, b bson.RawValue) (sum bson.RawValue, ok bool) {
	return combine(a, b, (*big.Int).Add, func(x, y float64) float64 { return x + y })
}

// Mul is a × b with the widening and the overflow rule of Add.
func Mul(a, b bson.RawValue) (product bson.RawValue, ok bool) {
	return combine(a, b, (*big.Int).Mul, func(x, y float64) float64 { return x * y })
}

// Sub is a - b with the widening and the overflow rule of Add.
func Sub(a, b bson.RawValue) (difference bson.RawValue, ok bool) {
	return combine(a, b, (*big.Int).Sub, func(x, y float64) float64 { return x - y })
}

func combine(a, b bson.RawValue, ints func(z, x, y *big.Int) *big.Int, floats func(x, y float64) float64) (bson.RawValue, bool) {
	if !IsNumber(a) || !IsNumber(b) {
		return bson.RawValue{}, false
	}
	x, xInt := integer(a)
	y, yInt := integer(b)
	if !xInt || !yInt {
		return Double(floats(Float(a), Float(b))), true
	}
	n := ints(new(big.Int), big.NewInt(x), big.NewInt(y))
	switch {
	case !n.IsInt64():
		return Double(floats(float64(x), float64(y))), false
	case a.Type == bson.TypeInt32 && b.Type == bson.TypeInt32 && n.Int64() == int64(int32(n.Int64())):
		return Int32(int32(n.Int64())), true
	}
	return Int64(n.Int64()), true
}
