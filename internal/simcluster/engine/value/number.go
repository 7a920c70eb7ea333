package value

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"

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

// compareExact compares where at least one side is Decimal128.
func compareExact(a, b bson.RawValue) int {
	ka, kb := numberClass(a), numberClass(b)
	if ka != kb || ka != finite {
		return cmp.Compare(ka, kb)
	}
	x, y := rational(a), rational(b)
	if c := cmp.Compare(x.coef.Sign(), y.coef.Sign()); c != 0 || x.coef.Sign() == 0 {
		return c
	}
	// Exponents reach 6144: decide by magnitude where that is enough.
	if mx, my := x.magnitude(), y.magnitude(); mx > my+2 || my > mx+2 {
		return cmp.Compare(mx, my) * x.coef.Sign()
	}
	return x.rat().Cmp(y.rat())
}

type class int

const (
	nan class = iota
	minusInfinity
	finite
	plusInfinity
)

func numberClass(v bson.RawValue) class {
	sign := 0
	switch v.Type {
	case bson.TypeDouble:
		f := double(v)
		if math.IsNaN(f) {
			return nan
		}
		if math.IsInf(f, 0) {
			sign = int(math.Copysign(1, f))
		}
	case bson.TypeDecimal128:
		d := v.Decimal128()
		if d.IsNaN() {
			return nan
		}
		sign = d.IsInf()
	}
	switch {
	case sign > 0:
		return plusInfinity
	case sign < 0:
		return minusInfinity
	}
	return finite
}

// scaled is coef × base^exp.
type scaled struct {
	coef *big.Int
	base int64
	exp  int
}

func rational(v bson.RawValue) scaled {
	if n, ok := integer(v); ok {
		return scaled{big.NewInt(n), 2, 0}
	}
	if v.Type == bson.TypeDouble {
		fraction, exp := math.Frexp(double(v))
		return scaled{big.NewInt(int64(fraction * (1 << 53))), 2, exp - 53}
	}
	coef, exp := decimalParts(v.Decimal128())
	return scaled{coef, 10, exp}
}

// magnitude is about log10 of the value, off by less than one.
func (s scaled) magnitude() int {
	bits := float64(s.coef.BitLen())
	return int(math.Floor(bits*math.Log10(2) + float64(s.exp)*math.Log10(float64(s.base))))
}

func (s scaled) rat() *big.Rat {
	r := new(big.Rat).SetInt(s.coef)
	if s.exp == 0 {
		return r
	}
	power := new(big.Int).Exp(big.NewInt(s.base), big.NewInt(int64(max(s.exp, -s.exp))), nil)
	factor := new(big.Rat).SetInt(power)
	if s.exp < 0 {
		factor.Inv(factor)
	}
	return r.Mul(r, factor)
}
