package expr

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

func totalOperators(name string) parser {
	switch name {
	case "$sum", "$avg", "$min", "$max":
		return variadic(evalTotal)
	}
	return nil
}

// evalTotal is the expression form of the accumulators: over its operands, or
// over the elements when the only operand is an array.
func evalTotal(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	if len(args) == 1 && args[0].Type == bson.TypeArray {
		args = slice(args[0].Value)
	}
	switch name {
	case "$sum", "$avg":
		var t Total
		for _, v := range args {
			t.Add(v)
		}
		if name == "$sum" {
			return t.Sum(), nil
		}
		return t.Average(), nil
	}
	best := value.Null()
	for _, v := range args {
		best = Extreme(best, v, name == "$max")
	}
	return best, nil
}

// Extreme is the smaller or larger of two values; null and missing are ignored if the
// other has a value.
func Extreme(best, v bson.RawValue, largest bool) bson.RawValue {
	switch {
	case nullish(v):
		return best
	case nullish(best):
		return v
	}
	if c := value.Compare(v, best); c < 0 && !largest || c > 0 && largest {
		return v
	}
	return best
}

// Total sums numbers like $sum: other values are ignored, the result has the widest
// type, and on overflow ints become longs and longs become doubles. The zero value is
// an empty sum, int 0.
//
// Integers are added exactly, doubles with compensated summation, so that sums of
// ordinary size do not depend on the order of the shards.
type Total struct {
	Count  int64 // numbers added
	widest kind
	whole  int64   // sum of ints and longs
	over   bool    // whole has overflowed into sum
	sum    float64 // sum of doubles
	lost   float64 // compensation for rounding errors in sum
	dec    decimal // sum of decimals
}

// Add adds a value if it is a number.
func (t *Total) Add(v bson.RawValue) {
	n, ok := number(v)
	if !ok {
		return
	}
	t.Count++
	t.widest = max(t.widest, n.kind)
	switch n.kind {
	case kindDecimal:
		if t.dec.coeff == nil && t.dec.form == formFinite {
			t.dec = decimalOfInt(0)
		}
		t.dec = t.dec.add(n.d)
	case kindDouble:
		t.addFloat(n.f)
	default:
		s := add(longNum(t.whole), longNum(n.i))
		if s.kind == kindLong {
			t.whole = s.i
			return
		}
		t.over = true
		t.addFloat(float64(t.whole))
		t.whole = n.i
	}
}

// addFloat is Neumaier's summation.
func (t *Total) addFloat(f float64) {
	s := t.sum + f
	if math.Abs(t.sum) >= math.Abs(f) {
		t.lost += (t.sum - s) + f
	} else {
		t.lost += (f - s) + t.sum
	}
	t.sum = s
}

func (t *Total) float() float64 {
	f := t.sum + float64(t.whole)
	if with := f + t.lost; !math.IsNaN(with) { // infinities leave NaN in lost
		f = with
	}
	return f
}

func (t *Total) num() num {
	switch {
	case t.widest == kindDecimal:
		d := t.dec.add(decimalOfInt(t.whole))
		if t.sum != 0 {
			d = d.add(decimalOfFloat(t.sum + t.lost))
		}
		return num{kind: kindDecimal, d: d}
	case t.widest == kindDouble || t.over:
		return doubleNum(t.float())
	}
	return num{kind: t.widest, i: t.whole}
}

// Sum is the sum so far.
func (t *Total) Sum() bson.RawValue { return t.num().value() }

// Average is the mean, null when nothing was added; never an integer.
func (t *Total) Average() bson.RawValue {
	return Quotient(t.Sum(), t.Count)
}

// Quotient divides a sum by a count, null when the count is 0.
func Quotient(sum bson.RawValue, count int64) bson.RawValue {
	n, ok := number(sum)
	if !ok || count == 0 {
		return value.Null()
	}
	if n.kind == kindDecimal {
		return n.d.divide(decimalOfInt(count)).value()
	}
	return value.Double(n.float() / float64(count))
}
