package value

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Int32 makes an int32.
func Int32(n int32) bson.RawValue {
	return bson.RawValue{Type: bson.TypeInt32, Value: binary.LittleEndian.AppendUint32(nil, uint32(n))}
}

// Int64 makes an int64.
func Int64(n int64) bson.RawValue {
	return bson.RawValue{Type: bson.TypeInt64, Value: binary.LittleEndian.AppendUint64(nil, uint64(n))}
}

// Double makes a double.
func Double(f float64) bson.RawValue {
	return bson.RawValue{Type: bson.TypeDouble, Value: binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))}
}

// Decimal makes a Decimal128.
func Decimal(d bson.Decimal128) bson.RawValue {
	high, low := d.GetBytes()
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 16), low)
	return bson.RawValue{Type: bson.TypeDecimal128, Value: binary.LittleEndian.AppendUint64(b, high)}
}

// String makes a string.
func String(s string) bson.RawValue {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, len(s)+5), uint32(len(s)+1))
	return bson.RawValue{Type: bson.TypeString, Value: append(append(b, s...), 0)}
}

// Bool makes a boolean.
func Bool(is bool) bson.RawValue {
	b := byte(0)
	if is {
		b = 1
	}
	return bson.RawValue{Type: bson.TypeBoolean, Value: []byte{b}}
}

// Null makes null.
func Null() bson.RawValue { return bson.RawValue{Type: bson.TypeNull} }

// Undefined makes the deprecated undefined, which indexes use for an empty array.
func Undefined() bson.RawValue { return bson.RawValue{Type: bson.TypeUndefined} }

// MinKey makes the value before all others.
func MinKey() bson.RawValue { return bson.RawValue{Type: bson.TypeMinKey} }

// MaxKey makes the value after all others.
func MaxKey() bson.RawValue { return bson.RawValue{Type: bson.TypeMaxKey} }

// Date makes a UTC datetime, cut to milliseconds.
func Date(t time.Time) bson.RawValue {
	return bson.RawValue{Type: bson.TypeDateTime, Value: Int64(t.UnixMilli()).Value}
}

// Timestamp makes a timestamp of seconds t and increment i.
func Timestamp(t, i uint32) bson.RawValue {
	return bson.RawValue{Type: bson.TypeTimestamp, Value: Int64(int64(uint64(t)<<32 | uint64(i))).Value}
}

// ObjectID makes an ObjectId.
func ObjectID(id bson.ObjectID) bson.RawValue {
	return bson.RawValue{Type: bson.TypeObjectID, Value: append([]byte(nil), id[:]...)}
}

// Doc makes an embedded document of raw, which is not copied.
func Doc(raw bson.Raw) bson.RawValue {
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw}
}

// Array makes an array of the values.
func Array(items ...bson.RawValue) bson.RawValue {
	b := NewBuilder(64)
	for _, v := range items {
		b.Push(v)
	}
	return bson.RawValue{Type: bson.TypeArray, Value: b.Raw()}
}

// Of marshals any Go value the driver's bson package knows; a RawValue is returned as it is.
func Of(v any) (bson.RawValue, error) {
	if raw, ok := v.(bson.RawValue); ok {
		return raw, nil
	}
	typ, data, err := bson.MarshalValue(v)
	return bson.RawValue{Type: typ, Value: data}, err
}

// Builder appends elements to a document or array. The zero value is not ready: use NewBuilder.
type Builder struct {
	buf   []byte
	count int
}

// NewBuilder starts an empty document with room for size bytes.
func NewBuilder(size int) *Builder {
	return &Builder{buf: make([]byte, 4, max(size, 5))}
}

// Append adds a field; a missing value adds nothing.
func (b *Builder) Append(name string, v bson.RawValue) *Builder {
	if v.Type == 0 {
		return b
	}
	b.buf = append(append(append(b.buf, byte(v.Type)), name...), 0)
	b.buf = append(b.buf, v.Value...)
	b.count++
	return b
}

// Push adds the value under the next array index ("0", "1", …).
func (b *Builder) Push(v bson.RawValue) *Builder {
	if v.Type == 0 {
		return b
	}
	b.buf = strconv.AppendInt(append(b.buf, byte(v.Type)), int64(b.count), 10)
	b.buf = append(append(b.buf, 0), v.Value...)
	b.count++
	return b
}

// Count is how many elements were added.
func (b *Builder) Count() int { return b.count }

// Raw closes the document. The builder must not be used afterwards.
func (b *Builder) Raw() bson.Raw {
	b.buf = append(b.buf, 0)
	binary.LittleEndian.PutUint32(b.buf, uint32(len(b.buf)))
	return b.buf
}
