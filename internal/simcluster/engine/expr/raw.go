package expr

import (
	"encoding/binary"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// Readers of values that the operators share.

// fields walks the elements of a document or array.
func fields(doc []byte) iter.Seq2[[]byte, bson.RawValue] {
	return func(yield func([]byte, bson.RawValue) bool) {
		for r := value.Read(doc); r.Next(); {
			if !yield(r.Key, r.Value) {
				return
			}
		}
	}
}

// items walks the elements of an array.
func items(array []byte) iter.Seq[bson.RawValue] {
	return func(yield func(bson.RawValue) bool) {
		for r := value.Read(array); r.Next(); {
			if !yield(r.Value) {
				return
			}
		}
	}
}

// slice collects the elements of an array.
func slice(array []byte) []bson.RawValue {
	var out []bson.RawValue
	for v := range items(array) {
		out = append(out, v)
	}
	return out
}

// soleField is the first element and the number of elements.
func soleField(doc []byte) (name string, v bson.RawValue, n int) {
	for key, val := range fields(doc) {
		if n == 0 {
			name, v = string(key), val
		}
		n++
	}
	return name, v, n
}

// missing is the value of a field that is not there.
func missing() bson.RawValue { return bson.RawValue{} }

// orNull is the value, or null where it is missing: arrays have no gaps.
func orNull(v bson.RawValue) bson.RawValue {
	if v.Type == 0 {
		return value.Null()
	}
	return v
}

// arrayValue closes a builder as an array.
func arrayValue(b *value.Builder) bson.RawValue {
	return bson.RawValue{Type: bson.TypeArray, Value: b.Raw()}
}

// dateValue is a date of milliseconds since the epoch.
func dateValue(ms int64) bson.RawValue {
	return bson.RawValue{Type: bson.TypeDateTime, Value: value.Int64(ms).Value}
}

// millis is the int64 of a date: milliseconds since the epoch.
func millis(v bson.RawValue) int64 { return int64(binary.LittleEndian.Uint64(v.Value)) }

// str is the text of a string, symbol or code value.
func str(v bson.RawValue) string {
	if len(v.Value) < 5 {
		return ""
	}
	return string(v.Value[4 : len(v.Value)-1])
}

func nullish(v bson.RawValue) bool {
	return v.Type == 0 || v.Type == bson.TypeNull || v.Type == bson.TypeUndefined
}

// Truthy is the boolean meaning of a value: missing, null, undefined, false
// and every zero are false, all else (also empty strings, arrays, documents)
// is true.
func Truthy(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined:
		return false
	case bson.TypeBoolean:
		return v.Value[0] != 0
	}
	return !value.IsNumber(v) || value.Float(v) != 0
}

// TypeName is the result of $type and the type's name in messages; "missing" for the
// zero value.
func TypeName(v bson.RawValue) string { return value.TypeName(v) }

// Text writes a value the way the server's messages do: { a: 1, b: "x" }.
func Text(v bson.RawValue) string {
	if v.Type == 0 {
		return "missing"
	}
	return value.Text(v)
}
