// Package value has the operations on single BSON values: canonical order, MongoDB's
// hash, dotted paths, exact numbers, and building documents. It compares the raw bytes
// element by element, without a byte-comparable encoding, so that tests can use it as
// an independent check of such an encoding.
//
// All functions are pure. Documents are validated once, when the server receives them;
// iterating over a malformed one ends at the error. The zero bson.RawValue means
// "missing".
package value

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reader walks the elements of a document or array without allocating.
type Reader struct {
	doc []byte
	at  int // offset of the next element

	Key   []byte // name of the current element; a slice of the document
	Value bson.RawValue
}

// Read starts a walk over doc. A nil or truncated document has no elements.
func Read(doc bson.Raw) Reader {
	return Reader{doc: doc, at: 4}
}

// Next advances to the next element and reports whether there is one.
func (r *Reader) Next() bool {
	if r.at >= len(r.doc)-1 || r.doc[r.at] == 0 {
		return false
	}
	typ := bson.Type(r.doc[r.at])
	end := bytes.IndexByte(r.doc[r.at+1:], 0)
	if end < 0 {
		return false
	}
	start := r.at + 1 + end + 1
	r.Key = r.doc[r.at+1 : start-1]
	size := sizeOf(typ, r.doc[start:])
	if size < 0 || start+size > len(r.doc) {
		return false
	}
	r.Value = bson.RawValue{Type: typ, Value: r.doc[start : start+size : start+size]}
	r.at = start + size
	return true
}

// Elements iterates over names and values.
func Elements(doc bson.Raw) iter.Seq2[string, bson.RawValue] {
	return func(yield func(string, bson.RawValue) bool) {
		for r := Read(doc); r.Next(); {
			if !yield(string(r.Key), r.Value) {
				return
			}
		}
	}
}

// Items iterates over the values of an array.
func Items(array bson.RawValue) iter.Seq[bson.RawValue] {
	return func(yield func(bson.RawValue) bool) {
		for r := Read(array.Value); r.Next(); {
			if !yield(r.Value) {
				return
			}
		}
	}
}

// Len counts the elements of a document or array.
func Len(doc bson.Raw) int {
	n := 0
	for r := Read(doc); r.Next(); {
		n++
	}
	return n
}

// First is the first element's value, missing in an empty document.
func First(doc bson.Raw) (name string, v bson.RawValue) {
	r := Read(doc)
	if !r.Next() {
		return "", bson.RawValue{}
	}
	return string(r.Key), r.Value
}

// WithID gives doc with _id as its first field.
func WithID(doc bson.Raw, id bson.RawValue) bson.Raw {
	b := NewBuilder(len(doc)+len(id.Value)+5).Append("_id", id)
	for name, v := range Elements(doc) {
		if name != "_id" {
			b.Append(name, v)
		}
	}
	return b.Raw()
}

// Ascending is a key pattern with the fields of a document.
func Ascending(doc bson.Raw) bson.Raw {
	b := NewBuilder(len(doc))
	for name := range Elements(doc) {
		b.Append(name, Int32(1))
	}
	return b.Raw()
}

// sizeOf is the length of a value of the type at the start of b, -1 if it is invalid.
func sizeOf(t bson.Type, b []byte) int {
	// prefixed is the size of a value with a length in front; least is the smallest well-formed length.
	prefixed := func(fixed, least int) int {
		if len(b) < 4 {
			return -1
		}
		n := int(int32(binary.LittleEndian.Uint32(b)))
		if n < least {
			return -1
		}
		return fixed + n
	}
	switch t {
	case bson.TypeDouble, bson.TypeDateTime, bson.TypeTimestamp, bson.TypeInt64:
		return 8
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return prefixed(4, 1)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return prefixed(0, 5)
	case bson.TypeCodeWithScope:
		return prefixed(0, 14)
	case bson.TypeBinary:
		return prefixed(5, 0)
	case bson.TypeUndefined, bson.TypeNull, bson.TypeMinKey, bson.TypeMaxKey:
		return 0
	case bson.TypeObjectID:
		return 12
	case bson.TypeBoolean:
		return 1
	case bson.TypeRegex:
		first := bytes.IndexByte(b, 0)
		if first < 0 {
			return -1
		}
		second := bytes.IndexByte(b[first+1:], 0)
		if second < 0 {
			return -1
		}
		return first + second + 2
	case bson.TypeDBPointer:
		return prefixed(16, 1)
	case bson.TypeInt32:
		return 4
	case bson.TypeDecimal128:
		return 16
	}
	return -1
}

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

// Raw closes the document. The builder must not be used afterwards.
func (b *Builder) Raw() bson.Raw {
	b.buf = append(b.buf, 0)
	binary.LittleEndian.PutUint32(b.buf, uint32(len(b.buf)))
	return b.buf
}

// IDs makes ObjectIDs as one process does: seconds, five bytes that name the process, a counter.
type IDs struct {
	process [5]byte
	count   uint32
}

// NewIDs draws the process and the counter, which begins within a bit mask.
func NewIDs(r *rand.Rand, mask uint32) *IDs {
	s := &IDs{count: r.Uint32() & mask}
	for i := range s.process {
		s.process[i] = byte(r.Uint32())
	}
	return s
}

// At is the next id, made at a time.
func (s *IDs) At(t time.Time) (id bson.ObjectID) {
	s.count++
	binary.BigEndian.PutUint32(id[8:], s.count) // of which three bytes stay
	binary.BigEndian.PutUint32(id[:4], uint32(t.Unix()))
	copy(id[4:9], s.process[:])
	return id
}
