package value

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// IsNumber reports whether v is an int32, int64, double or Decimal128.
func IsNumber(v bson.RawValue) bool { return Rank(v.Type) == 10 }

// integer gives int32 and int64 values; ok is false for the other types.
func integer(v bson.RawValue) (n int64, ok bool) {
	switch v.Type {
	case bson.TypeInt32:
		return int64(int32(binary.LittleEndian.Uint32(v.Value))), true
	case bson.TypeInt64:
		return int64(binary.LittleEndian.Uint64(v.Value)), true
	}
	return 0, false
}

func double(v bson.RawValue) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(v.Value))
}

// IsNaN reports whether v is a double or Decimal128 NaN.
func IsNaN(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeDouble:
		return math.IsNaN(double(v))
	case bson.TypeDecimal128:
		return v.Decimal128().IsNaN()
	}
	return false
}

// Float is the nearest double of a number, 0 for other types.
func Float(v bson.RawValue) float64 {
	if n, ok := integer(v); ok {
		return float64(n)
	}
	switch v.Type {
	case bson.TypeDouble:
		return double(v)
	case bson.TypeDecimal128:
		f, _ := strconv.ParseFloat(v.Decimal128().String(), 64) // out of range: ±Inf or 0, which is correct
		return f
	}
	return 0
}

// Long is a number as int64: doubles truncate, Decimal128 rounds half to even, both saturate, NaN is 0.
// ok is false when v is no number or the value had to be changed.
func Long(v bson.RawValue) (n int64, ok bool) {
	if n, ok := integer(v); ok {
		return n, true
	}
	switch v.Type {
	case bson.TypeDouble:
		f := double(v)
		switch {
		case math.IsNaN(f):
			return 0, false
		case f >= 1<<63:
			return math.MaxInt64, false
		case f < -(1 << 63):
			return math.MinInt64, false
		}
		return int64(f), f == math.Trunc(f)
	case bson.TypeDecimal128:
		return decimalLong(v)
	}
	return 0, false
}

// CompareNumbers compares exactly across the number types; NaN equals NaN and is the smallest number.
func CompareNumbers(a, b bson.RawValue) int {
	x, aInt := integer(a)
	y, bInt := integer(b)
	if aInt && bInt {
		return cmp.Compare(x, y)
	}
	if x, ok := asDouble(a); ok {
		if y, ok := asDouble(b); ok {
			return cmp.Compare(x, y) // orders NaN first and -0 equal to 0
		}
	}
	if x, y := special(a), special(b); x != 0 || y != 0 {
		return cmp.Compare(x, y)
	}
	return rational(a).Cmp(rational(b))
}

// asDouble is a double, or an integer that a double has exactly; most are not above 2^53.
func asDouble(v bson.RawValue) (float64, bool) {
	if n, ok := integer(v); ok {
		return float64(n), -1<<53 <= n && n <= 1<<53
	}
	return double(v), v.Type == bson.TypeDouble
}

// special is the NaN or infinity that a number is, 0 if it is finite.
func special(v bson.RawValue) float64 {
	switch v.Type {
	case bson.TypeDouble:
		if f := double(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return f
		}
	case bson.TypeDecimal128:
		switch d := v.Decimal128(); {
		case d.IsNaN():
			return math.NaN()
		case d.IsInf() != 0:
			return math.Inf(d.IsInf())
		}
	}
	return 0
}

// rational is the exact value of a finite number.
func rational(v bson.RawValue) *big.Rat {
	if n, ok := integer(v); ok {
		return new(big.Rat).SetInt64(n)
	}
	if v.Type == bson.TypeDouble {
		return new(big.Rat).SetFloat64(double(v))
	}
	coef, exp, _ := v.Decimal128().BigInt() // of a finite one it cannot fail
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil))
	if exp < 0 {
		power.Inv(power)
	}
	return power.Mul(power, new(big.Rat).SetInt(coef))
}

// decimalLong is Long of a Decimal128.
func decimalLong(v bson.RawValue) (int64, bool) {
	switch f := special(v); {
	case math.IsNaN(f):
		return 0, false
	case f > 0:
		return math.MaxInt64, false
	case f < 0:
		return math.MinInt64, false
	}
	r := rational(v)
	whole, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	exact := rest.Sign() == 0
	if c := rest.Abs(rest).Lsh(rest, 1).Cmp(r.Denom()); c > 0 || c == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(int64(r.Sign())))
	}
	switch {
	case whole.IsInt64():
		return whole.Int64(), exact
	case whole.Sign() < 0:
		return math.MinInt64, false
	}
	return math.MaxInt64, false
}
