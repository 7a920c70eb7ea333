package expr

import (
	"math"
	"math/big"
)

func (d decimal) negate() decimal {
	switch d.form {
	case formInf:
		return decimal{form: formNegInf}
	case formNegInf:
		return decimal{form: formInf}
	case formNaN:
		return d
	}
	return decimal{coeff: new(big.Int).Neg(d.coeff), exp: d.exp}
}

// special handles non-finite operands with float64, which has the same rules.
func special(a, b decimal, f func(x, y float64) float64) decimal {
	return decimalOfFloat(f(a.float(), b.float()))
}

func (d decimal) add(o decimal) decimal {
	if d.form != formFinite || o.form != formFinite {
		return special(d, o, func(x, y float64) float64 { return x + y })
	}
	a, b := d, o
	if a.exp < b.exp {
		a, b = b, a
	}
	if a.exp-b.exp > 2*digits+len(b.coeff.String()) && a.coeff.Sign() != 0 {
		return a // b is far below the last digit
	}
	c := new(big.Int).Mul(a.coeff, pow10(a.exp-b.exp))
	return decimal{coeff: c.Add(c, b.coeff), exp: b.exp}.rounded()
}

func (d decimal) multiply(o decimal) decimal {
	if d.form != formFinite || o.form != formFinite {
		return special(d, o, func(x, y float64) float64 { return x * y })
	}
	return decimal{coeff: new(big.Int).Mul(d.coeff, o.coeff), exp: d.exp + o.exp}.rounded()
}

// divide needs o ≠ 0; an exact quotient has no trailing zeros.
func (d decimal) divide(o decimal) decimal {
	if d.form != formFinite || o.form != formFinite || o.zero() {
		return special(d, o, func(x, y float64) float64 { return x / y })
	}
	if d.zero() {
		return decimal{coeff: new(big.Int)}
	}
	shift := 2*digits + len(o.coeff.String())
	q, r := new(big.Int).QuoRem(new(big.Int).Mul(d.coeff, pow10(shift)), o.coeff, new(big.Int))
	out := decimal{coeff: q, exp: d.exp - o.exp - shift}
	if r.Sign() == 0 {
		ten, rem := big.NewInt(10), new(big.Int)
		for out.exp < min(d.exp-o.exp, 0) || out.exp < d.exp-o.exp {
			next, _ := new(big.Int).QuoRem(out.coeff, ten, rem)
			if rem.Sign() != 0 {
				break
			}
			out = decimal{coeff: next, exp: out.exp + 1}
		}
	}
	return out.rounded()
}

func (d decimal) modulo(o decimal) decimal {
	if d.form != formFinite || o.form != formFinite || o.zero() {
		return special(d, o, math.Mod)
	}
	e := min(d.exp, o.exp)
	a := new(big.Int).Mul(d.coeff, pow10(d.exp-e))
	b := new(big.Int).Mul(o.coeff, pow10(o.exp-e))
	return decimal{coeff: a.Rem(a, b), exp: e}.rounded()
}
