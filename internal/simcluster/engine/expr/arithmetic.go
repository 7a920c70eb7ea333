package expr

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// evalAdd sums numbers and at most one date; any null operand makes null.
func evalAdd(_ string, args []bson.RawValue) (bson.RawValue, error) {
	total, dated := value.Int32(0), false
	for _, v := range args {
		switch {
		case nullish(v):
			return value.Null(), nil
		case value.IsNumber(v):
		case v.Type == bson.TypeDateTime:
			if dated {
				return missing(), status.Errorf(16612, "only one date allowed in an $add expression")
			}
			dated, v = true, value.Int64(millis(v))
		default:
			return missing(), status.Errorf(status.TypeMismatch, "$add only supports numeric or date types, not %s", TypeName(v))
		}
		total, _ = value.Add(total, v)
	}
	if dated {
		return shifted(total)
	}
	return total, nil
}

// shifted is a number of milliseconds as a date; fractions are rounded.
func shifted(n bson.RawValue) (bson.RawValue, error) {
	if n.Type == bson.TypeDouble {
		n = value.Double(math.RoundToEven(n.Double()))
		if _, ok := value.Long(n); !ok {
			return missing(), status.Errorf(status.Overflow, "date overflow")
		}
	}
	ms, _ := value.Long(n)
	return dateValue(ms), nil
}

func evalMultiply(_ string, args []bson.RawValue) (bson.RawValue, error) {
	product := value.Int32(1)
	for _, v := range args {
		if nullish(v) {
			return value.Null(), nil
		}
		if !value.IsNumber(v) {
			return missing(), status.Errorf(status.TypeMismatch, "$multiply only supports numeric types, not %s", TypeName(v))
		}
		product, _ = value.Mul(product, v)
	}
	return product, nil
}

func evalSubtract(_ string, args []bson.RawValue) (bson.RawValue, error) {
	l, r := args[0], args[1]
	switch {
	case nullish(l) || nullish(r):
		return value.Null(), nil
	case value.IsNumber(l) && value.IsNumber(r):
		d, _ := value.Sub(l, r)
		return d, nil
	case l.Type == bson.TypeDateTime && r.Type == bson.TypeDateTime:
		return value.Int64(millis(l) - millis(r)), nil
	case l.Type == bson.TypeDateTime && value.IsNumber(r):
		d, _ := value.Sub(value.Int64(millis(l)), r)
		return shifted(d)
	}
	return missing(), status.Errorf(status.TypeMismatch, "can't $subtract %s from %s", TypeName(r), TypeName(l))
}

// evalDivide is $divide, which always leaves the integers, and $mod.
func evalDivide(name string, args []bson.RawValue) (bson.RawValue, error) {
	l, r := args[0], args[1]
	switch {
	case !value.IsNumber(l) && !nullish(l) || !value.IsNumber(r) && !nullish(r):
		code := int32(status.TypeMismatch)
		if name == "$mod" {
			code = 16611
		}
		return missing(), status.Errorf(code, "%s only supports numeric types, not %s and %s", name, TypeName(l), TypeName(r))
	case nullish(l) || nullish(r):
		return value.Null(), nil
	case value.Float(r) == 0 && name == "$mod":
		return missing(), status.Errorf(16610, "can't $mod by zero")
	case value.Float(r) == 0:
		return missing(), status.Errorf(status.BadValue, "can't $divide by zero")
	case name == "$mod":
		return remainder(l, r), nil
	}
	return quotient(l, r), nil
}

// remainder keeps the sign and the integer type of the dividend.
func remainder(a, b bson.RawValue) bson.RawValue {
	x, _ := value.Long(a)
	y, _ := value.Long(b)
	switch {
	case a.Type == bson.TypeInt32 && b.Type == bson.TypeInt32:
		return value.Int32(int32(x % y))
	case (a.Type == bson.TypeInt32 || a.Type == bson.TypeInt64) && (b.Type == bson.TypeInt32 || b.Type == bson.TypeInt64):
		return value.Int64(x % y)
	}
	return value.Double(math.Mod(value.Float(a), value.Float(b)))
}

func quotient(a, b bson.RawValue) bson.RawValue { return value.Double(value.Float(a) / value.Float(b)) }

// evalTotal is the expression form of the accumulators: over its operands, or
// over the elements when the only operand is an array.
func evalTotal(name string, args []bson.RawValue) (bson.RawValue, error) {
	if len(args) == 1 && args[0].Type == bson.TypeArray {
		args = slices.Collect(value.Items(args[0]))
	}
	var t Total
	best := value.Null()
	for _, v := range args {
		t.Add(v)
		best = Extreme(best, v, name == "$max")
	}
	switch name {
	case "$sum":
		return t.Sum(), nil
	case "$avg":
		return Quotient(t.Sum(), t.Count), nil
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
// Integers are added exactly, doubles and decimals with compensated summation, so that sums of
// ordinary size do not depend on the order of the shards.
type Total struct {
	Count   int64         // numbers added
	exact   bson.RawValue // sum of ints and longs
	doubles bool          // some have been added to sum
	sum     float64       // sum of doubles
	lost    float64       // compensation for rounding errors in sum
}

// Add adds a value if it is a number.
func (t *Total) Add(v bson.RawValue) {
	if !value.IsNumber(v) {
		return
	}
	t.Count++
	if v.Type == bson.TypeDouble || v.Type == bson.TypeDecimal128 {
		t.addFloat(value.Float(v))
		return
	}
	s, ok := value.Add(t.whole(), v)
	if !ok {
		t.addFloat(value.Float(t.exact))
		s = v
	}
	t.exact = s
}

func (t *Total) whole() bson.RawValue {
	if t.exact.Type == 0 {
		return value.Int32(0)
	}
	return t.exact
}

// addFloat is Neumaier's summation.
func (t *Total) addFloat(f float64) {
	s := t.sum + f
	if math.Abs(t.sum) >= math.Abs(f) {
		t.lost += (t.sum - s) + f
	} else {
		t.lost += (f - s) + t.sum
	}
	t.sum, t.doubles = s, true
}

// Sum is the sum so far.
func (t *Total) Sum() bson.RawValue {
	if !t.doubles {
		return t.whole()
	}
	f := t.sum + value.Float(t.whole())
	if with := f + t.lost; !math.IsNaN(with) { // infinities leave NaN in lost
		f = with
	}
	return value.Double(f)
}

// Quotient divides a sum by a count, null when the count is 0; never an integer.
func Quotient(sum bson.RawValue, count int64) bson.RawValue {
	if !value.IsNumber(sum) || count == 0 {
		return value.Null()
	}
	return quotient(sum, value.Int64(count))
}
