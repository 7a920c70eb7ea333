package expr

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// kind orders the numeric types by width: the result of an operation has the
// widest kind among its operands.
type kind uint8

const (
	kindInt kind = iota
	kindLong
	kindDouble
	kindDecimal
)

// num is a number with its BSON type. i holds int and long, f double, d decimal.
type num struct {
	kind kind
	i    int64
	f    float64
	d    decimal
}

// number reads a numeric value.
func number(v bson.RawValue) (num, bool) {
	switch v.Type {
	case bson.TypeInt32:
		return num{kind: kindInt, i: int64(int32(binary.LittleEndian.Uint32(v.Value)))}, true
	case bson.TypeInt64:
		return num{kind: kindLong, i: int64(binary.LittleEndian.Uint64(v.Value))}, true
	case bson.TypeDouble:
		return num{kind: kindDouble, f: math.Float64frombits(binary.LittleEndian.Uint64(v.Value))}, true
	case bson.TypeDecimal128:
		return num{kind: kindDecimal, d: readDecimal(v)}, true
	}
	return num{}, false
}

func longNum(i int64) num     { return num{kind: kindLong, i: i} }
func doubleNum(f float64) num { return num{kind: kindDouble, f: f} }

func (n num) integral() bool { return n.kind <= kindLong }

func (n num) zero() bool {
	switch n.kind {
	case kindDouble:
		return n.f == 0
	case kindDecimal:
		return n.d.zero()
	}
	return n.i == 0
}

func (n num) float() float64 {
	switch n.kind {
	case kindDouble:
		return n.f
	case kindDecimal:
		return n.d.float()
	}
	return float64(n.i)
}

func (n num) decimal() decimal {
	switch n.kind {
	case kindDouble:
		return decimalOfFloat(n.f)
	case kindDecimal:
		return n.d
	}
	return decimalOfInt(n.i)
}

// index is the number as an exact int32, which positions and counts must be.
func (n num) index() (int, bool) {
	i, ok := n.exactInt()
	if !ok || i < math.MinInt32 || i > math.MaxInt32 {
		return 0, false
	}
	return int(i), true
}

// exactInt is the number as an int64 when it is whole and in range.
func (n num) exactInt() (int64, bool) {
	switch n.kind {
	case kindDouble:
		if n.f != math.Trunc(n.f) || n.f < -(1<<63) || n.f >= 1<<63 {
			return 0, false
		}
		return int64(n.f), true
	case kindDecimal:
		f := n.d.float()
		if f != math.Trunc(f) || f < -(1<<63) || f >= 1<<63 {
			return 0, false
		}
		return int64(f), true
	}
	return n.i, true
}

// value writes the number with its own type; an int that outgrew 32 bits
// becomes a long.
func (n num) value() bson.RawValue {
	switch n.kind {
	case kindInt:
		if n.i >= math.MinInt32 && n.i <= math.MaxInt32 {
			return value.Int32(int32(n.i))
		}
		return value.Int64(n.i)
	case kindLong:
		return value.Int64(n.i)
	case kindDouble:
		return value.Double(n.f)
	}
	return n.d.value()
}

// The operations below take the wider kind; integers that overflow 64 bits
// continue as doubles.

func add(a, b num) num {
	switch k := max(a.kind, b.kind); k {
	case kindDecimal:
		return num{kind: k, d: a.decimal().add(b.decimal())}
	case kindDouble:
		return doubleNum(a.float() + b.float())
	default:
		s := a.i + b.i
		if (s > a.i) != (b.i > 0) {
			return doubleNum(float64(a.i) + float64(b.i))
		}
		return num{kind: k, i: s}
	}
}

func subtract(a, b num) num {
	switch k := max(a.kind, b.kind); k {
	case kindDecimal:
		return num{kind: k, d: a.decimal().add(b.decimal().negate())}
	case kindDouble:
		return doubleNum(a.float() - b.float())
	default:
		s := a.i - b.i
		if (s < a.i) != (b.i > 0) {
			return doubleNum(float64(a.i) - float64(b.i))
		}
		return num{kind: k, i: s}
	}
}

func multiply(a, b num) num {
	switch k := max(a.kind, b.kind); k {
	case kindDecimal:
		return num{kind: k, d: a.decimal().multiply(b.decimal())}
	case kindDouble:
		return doubleNum(a.float() * b.float())
	default:
		if a.i == 0 || b.i == 0 {
			return num{kind: k}
		}
		p := a.i * b.i
		if p/b.i != a.i || a.i == -1 && b.i == math.MinInt64 || b.i == -1 && a.i == math.MinInt64 {
			return doubleNum(float64(a.i) * float64(b.i))
		}
		return num{kind: k, i: p}
	}
}

// modulo keeps the sign of the dividend.
func modulo(a, b num) num {
	switch k := max(a.kind, b.kind); k {
	case kindDecimal:
		return num{kind: k, d: a.decimal().modulo(b.decimal())}
	case kindDouble:
		return doubleNum(math.Mod(a.float(), b.float()))
	default:
		if b.i == -1 { // the one quotient that overflows
			return num{kind: k}
		}
		return num{kind: k, i: a.i % b.i}
	}
}
