package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

type form uint8

const (
	formFinite form = iota
	formInf
	formNegInf
	formNaN
)

// decimal is a Decimal128 in the shape arithmetic needs: coeff × 10^exp.
// Results are rounded half-even to 34 digits; the sign of zero is not kept.
type decimal struct {
	form  form
	coeff *big.Int
	exp   int
}

// digits is the precision of Decimal128.
const digits = 34

func readDecimal(v bson.RawValue) decimal {
	d, ok := v.Decimal128OK()
	if !ok {
		return decimal{form: formNaN}
	}
	switch {
	case d.IsNaN():
		return decimal{form: formNaN}
	case d.IsInf() > 0:
		return decimal{form: formInf}
	case d.IsInf() < 0:
		return decimal{form: formNegInf}
	}
	c, e, err := d.BigInt()
	if err != nil {
		return decimal{form: formNaN}
	}
	return decimal{coeff: c, exp: e}
}

func decimalOfInt(i int64) decimal { return decimal{coeff: big.NewInt(i)} }

// decimalOfFloat keeps 15 significant digits, as the server's conversion does.
func decimalOfFloat(f float64) decimal {
	switch {
	case math.IsNaN(f):
		return decimal{form: formNaN}
	case math.IsInf(f, 1):
		return decimal{form: formInf}
	case math.IsInf(f, -1):
		return decimal{form: formNegInf}
	}
	d, _ := parseDecimal(strconv.FormatFloat(f, 'e', 14, 64))
	return d
}

func parseDecimal(s string) (decimal, bool) {
	d, err := bson.ParseDecimal128(s)
	if err != nil {
		return decimal{}, false
	}
	return readDecimal(value.Decimal(d)), true
}

func (d decimal) zero() bool { return d.form == formFinite && d.coeff.Sign() == 0 }

func (d decimal) value() bson.RawValue {
	text := ""
	switch d.form {
	case formNaN:
		text = "NaN"
	case formInf:
		text = "Infinity"
	case formNegInf:
		text = "-Infinity"
	default:
		r := d.rounded()
		if out, ok := bson.ParseDecimal128FromBigInt(r.coeff, r.exp); ok {
			return value.Decimal(out)
		}
		text = "Infinity"
		if r.coeff.Sign() < 0 {
			text = "-Infinity"
		}
		if r.exp < 0 {
			text = "0"
		}
	}
	out, _ := bson.ParseDecimal128(text)
	return value.Decimal(out)
}

func (d decimal) float() float64 {
	switch d.form {
	case formNaN:
		return math.NaN()
	case formInf:
		return math.Inf(1)
	case formNegInf:
		return math.Inf(-1)
	}
	f, _ := strconv.ParseFloat(d.coeff.String()+"e"+strconv.Itoa(d.exp), 64)
	return f
}

func (d decimal) String() string {
	out, ok := d.value().Decimal128OK()
	if !ok {
		return "NaN"
	}
	return strings.Replace(out.String(), "E-0", "E-", 1)
}

// rounded has at most 34 digits, ties to even.
func (d decimal) rounded() decimal {
	n := len(new(big.Int).Abs(d.coeff).String())
	if n <= digits {
		return d
	}
	return d.toExponent(d.exp + n - digits)
}

// toExponent drops digits below 10^exp, ties to even.
func (d decimal) toExponent(exp int) decimal {
	if exp <= d.exp {
		return d
	}
	q, r := new(big.Int).QuoRem(d.coeff, pow10(exp-d.exp), new(big.Int))
	twice := new(big.Int).Abs(r)
	twice.Lsh(twice, 1)
	if c := twice.Cmp(pow10(exp - d.exp)); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(int64(d.coeff.Sign())))
	}
	return decimal{coeff: q, exp: exp}
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
