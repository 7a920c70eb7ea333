package shardkey

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// CompareValues is the canonical order of two values; values that no key can have are the lowest.
func CompareValues(a, b bson.RawValue) int {
	if a.Type == bson.TypeObjectID && b.Type == bson.TypeObjectID { // what nearly all ids are
		return bytes.Compare(a.Value, b.Value)
	}
	var room [2][64]byte
	x, _, errX := appendValue(room[0][:0], nil, a.Type, a.Value, 0)
	y, _, errY := appendValue(room[1][:0], nil, b.Type, b.Value, 0)
	if errX != nil || errY != nil {
		return cmp.Compare(validity(errX), validity(errY))
	}
	return bytes.Compare(x, y)
}

func validity(err error) int {
	if err != nil {
		return 0
	}
	return 1
}

// NextValue is where a range of keys that begins with one value ends: the lowest value after it, so that
// [v, next) has v and nothing else. After a whole number that is the next whole number, with which people
// and other programs bound such ranges; fractions may lie between. false for values that cannot be ids, and
// for the highest of some types.
func NextValue(v bson.RawValue) (bson.RawValue, bool) {
	if n, err := valueSize(v.Type, v.Value); err != nil || n != len(v.Value) {
		return bson.RawValue{}, false
	}
	next, ok := nextOf(v)
	if !ok {
		return bson.RawValue{}, false
	}
	t, data, err := bson.MarshalValue(next)
	return bson.RawValue{Type: t, Value: data}, err == nil
}

// OneValue reports whether the bounds of a range of a key of one field leave room for a single value, so that no split
// divides it. Between two numbers there are others.
func (p Pattern) OneValue(r Range) bool {
	if p.Len() != 1 {
		return false
	}
	if p.Fields()[0].Hashed {
		lo, okLo := r.Min.HashFloor()
		hi, okHi := r.Max.HashFloor()
		return okLo && okHi && hi == lo+1
	}
	values, err := p.Values(r.Min)
	if err != nil {
		return false
	}
	switch values[0].Type {
	case bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128:
		return false
	}
	next, ok := NextValue(values[0])
	if !ok {
		return false
	}
	end, err := p.KeyOf(next)
	return err == nil && r.Max.Compare(end) <= 0
}

// PreviousValue is the value of which NextValue is this one; false where there is none, or none is known.
func PreviousValue(v bson.RawValue) (bson.RawValue, bool) {
	var value any
	switch v.Type {
	case bson.TypeObjectID:
		id, ok := v.ObjectIDOK()
		if !ok || !decrement(id[:]) {
			return bson.RawValue{}, false
		}
		value = id
	case bson.TypeString, bson.TypeSymbol:
		text, more := strings.CutSuffix(string(text(v.Value)), "\x00")
		if !more {
			return bson.RawValue{}, false
		}
		value = text
	case bson.TypeInt32:
		value = v.Int32() - 1
	case bson.TypeInt64:
		value = v.Int64() - 1
	case bson.TypeBinary:
		subtype, data := binaryParts(v.Value)
		data = append([]byte(nil), data...)
		if !decrement(data) {
			return bson.RawValue{}, false
		}
		value = bson.Binary{Subtype: subtype, Data: data}
	default:
		return bson.RawValue{}, false
	}
	t, data, err := bson.MarshalValue(value)
	previous := bson.RawValue{Type: t, Value: data}
	next, ok := NextValue(previous)
	return previous, err == nil && ok && next.Equal(v)
}

func nextOf(v bson.RawValue) (next any, ok bool) {
	switch v.Type {
	case bson.TypeObjectID:
		id := v.ObjectID()
		if increment(id[:]) {
			return id, true
		}
		return false, true // booleans are next
	case bson.TypeString, bson.TypeSymbol:
		return string(text(v.Value)) + "\x00", true
	case bson.TypeInt32:
		if n := v.Int32(); n < math.MaxInt32 {
			return n + 1, true
		}
		return int64(math.MaxInt32) + 1, true
	case bson.TypeInt64:
		if n := v.Int64(); n < math.MaxInt64 {
			return n + 1, true
		}
		return float64(1 << 63), true
	case bson.TypeDouble:
		return nextDouble(v.Double())
	case bson.TypeDecimal128:
		return nextDecimal(v.Decimal128())
	case bson.TypeDateTime:
		return bson.DateTime(v.DateTime() + 1), v.DateTime() < math.MaxInt64
	case bson.TypeBoolean:
		if v.Boolean() {
			return bson.DateTime(math.MinInt64), true // dates are next
		}
		return true, true
	case bson.TypeBinary:
		subtype, data := binaryParts(v.Value)
		data = append([]byte(nil), data...)
		// An old binary (subtype 2) has its length in its value again, which must stay right.
		return bson.Binary{Subtype: subtype, Data: data}, subtype != bson.TypeBinaryBinaryOld && increment(data)
	case bson.TypeEmbeddedDocument:
		// A document is before all that begin as it does; MinKey under an empty name is the lowest further field.
		doc := append(beginDocument(nil), v.Value[4:len(v.Value)-1]...)
		return bson.Raw(endDocument(appendElement(doc, bson.TypeMinKey, "", nil), 0)), true
	}
	return nil, false
}

// increment adds one to a big-endian number; false for the highest.
func increment(b []byte) bool {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i]++; b[i] != 0 {
			return true
		}
	}
	return false
}

// decrement takes one off a big-endian number; false for zero.
func decrement(b []byte) bool {
	for i := len(b) - 1; i >= 0; i-- {
		b[i]--
		if b[i] != 0xff {
			return true
		}
	}
	return false
}

func nextDouble(f float64) (any, bool) {
	switch {
	case math.IsNaN(f):
		return math.Inf(-1), true
	case math.IsInf(f, 1):
		return "", true // texts are next
	case f != math.Trunc(f):
	case math.Abs(f) < 1<<53:
		return f + 1, true
	case math.Abs(f) < 1<<63: // a whole number; others lie between it and the next double
		return int64(f) + 1, true
	}
	return math.Nextafter(f, math.Inf(1)), true
}

// nextDecimal adds one to a whole decimal, and to the last of the 34 digits of any other.
func nextDecimal(d bson.Decimal128) (any, bool) {
	if d.IsNaN() {
		return math.Inf(-1), true
	}
	if sign := d.IsInf(); sign != 0 {
		return "", sign > 0
	}
	n, exp, err := d.BigInt()
	if err != nil {
		return nil, false
	}
	ten := big.NewInt(10)
	for ; exp < 0; exp++ { // take off zeros after the point
		q, r := new(big.Int).QuoRem(n, ten, new(big.Int))
		if r.Sign() != 0 {
			break
		}
		n = q
	}
	for exp != 0 && exp > -decimalBias {
		wider := new(big.Int).Mul(n, ten)
		if len(new(big.Int).Abs(wider).String()) > decimalDigits {
			break
		}
		n, exp = wider, exp-1
	}
	return bson.ParseDecimal128FromBigInt(n.Add(n, big.NewInt(1)), exp)
}
