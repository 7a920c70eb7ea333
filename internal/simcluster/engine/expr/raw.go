package expr

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// Readers of values that the operators share.

// mapped is the array of what f makes of the items; those that it makes missing leave no gap.
func mapped(array bson.RawValue, f func(bson.RawValue) (bson.RawValue, error)) (bson.RawValue, error) {
	b := value.NewBuilder(len(array.Value))
	for item := range value.Items(array) {
		v, err := f(item)
		if err != nil {
			return missing(), err
		}
		b.Push(v)
	}
	return arrayValue(b), nil
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
