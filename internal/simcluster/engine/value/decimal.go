package value

import (
	"math"
	"math/big"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
