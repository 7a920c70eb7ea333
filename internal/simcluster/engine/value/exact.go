package value

import (
	"cmp"
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
