package value

import (
	"cmp"
	"encoding/binary"
	"math"

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
		return decimalFloat(v.Decimal128())
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
		return decimalLong(v.Decimal128())
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
	switch {
	case a.Type == bson.TypeDouble && b.Type == bson.TypeDouble:
		return cmp.Compare(double(a), double(b)) // orders NaN first and -0 equal to 0
	case aInt && b.Type == bson.TypeDouble:
		return compareIntFloat(x, double(b))
	case bInt && a.Type == bson.TypeDouble:
		return -compareIntFloat(y, double(a))
	}
	return compareExact(a, b)
}

// compareIntFloat is exact: converting either operand to the other's type would lose
// precision above 2^53.
func compareIntFloat(n int64, f float64) int {
	switch {
	case math.IsNaN(f), f < -(1 << 63):
		return 1
	case f >= 1<<63:
		return -1
	}
	whole := int64(f)
	if c := cmp.Compare(n, whole); c != 0 {
		return c
	}
	return cmp.Compare(0, f-math.Trunc(f))
}
