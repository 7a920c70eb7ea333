package cluster

import (
	"bytes"
	"encoding/binary"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// elements iterates over the elements of a BSON document without allocating. Every
// value is bounds-checked: a damaged document ends the iteration and sets broken.
// Values alias the document.
type elements struct {
	all    []byte // up to the final zero
	at     int    // where the next element begins
	key    []byte
	val    []byte
	typ    bson.Type
	broken bool
}

func walk(doc []byte) elements {
	if len(doc) < 5 {
		return elements{broken: true}
	}
	n := int(int32(binary.LittleEndian.Uint32(doc)))
	if n < 5 || n > len(doc) || doc[n-1] != 0 {
		return elements{broken: true}
	}
	return elements{all: doc[:n-1], at: 4}
}

// next advances to the next element; false at the end and on damage.
func (w *elements) next() bool {
	doc, at := w.all, w.at
	if w.broken || at >= len(doc) {
		return false
	}
	t := bson.Type(doc[at])
	at++
	// Field names are short, so a loop is faster than bytes.IndexByte.
	end := at
	for end < len(doc) && doc[end] != 0 {
		end++
	}
	if end == len(doc) {
		w.broken = true
		return false
	}
	body := doc[end+1:]
	var n int
	switch t { // common types without a function call
	case bson.TypeString:
		n = prefixed(body, 4)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		n = prefixed(body, 0)
	case bson.TypeTimestamp, bson.TypeInt64:
		n = 8
	default:
		n = size(t, body)
	}
	if n < 0 || n > len(body) {
		w.broken = true
		return false
	}
	w.typ, w.key, w.val = t, doc[at:end], body[:n]
	w.at = end + 1 + n
	return true
}

// size is the length of a value of type t at the start of b; negative if it is invalid.
func size(t bson.Type, b []byte) int {
	switch t {
	case bson.TypeDouble, bson.TypeDateTime, bson.TypeTimestamp, bson.TypeInt64:
		return 8
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return prefixed(b, 4)
	case bson.TypeEmbeddedDocument, bson.TypeArray, bson.TypeCodeWithScope:
		return prefixed(b, 0)
	case bson.TypeBinary:
		return prefixed(b, 5)
	case bson.TypeObjectID:
		return 12
	case bson.TypeBoolean:
		return 1
	case bson.TypeInt32:
		return 4
	case bson.TypeDecimal128:
		return 16
	case bson.TypeDBPointer:
		return prefixed(b, 16)
	case bson.TypeNull, bson.TypeUndefined, bson.TypeMinKey, bson.TypeMaxKey:
		return 0
	case bson.TypeRegex:
		a := bytes.IndexByte(b, 0)
		if a < 0 {
			return -1
		}
		o := bytes.IndexByte(b[a+1:], 0)
		if o < 0 {
			return -1
		}
		return a + o + 2
	}
	return -1
}

// prefixed reads a length prefix and adds the bytes that it does not count.
func prefixed(b []byte, extra int) int {
	if len(b) < 4 {
		return -1
	}
	n := int(int32(binary.LittleEndian.Uint32(b)))
	if n < 0 || n > len(b) {
		return -1
	}
	return n + extra
}

// The methods below return ok = false for another type.

func (w *elements) str() (string, bool) {
	b, ok := w.strBytes()
	return string(b), ok
}

func (w *elements) strBytes() ([]byte, bool) {
	if w.typ != bson.TypeString || len(w.val) < 5 {
		return nil, false
	}
	return w.val[4 : len(w.val)-1], true
}

func (w *elements) doc() (bson.Raw, bool) {
	if w.typ != bson.TypeEmbeddedDocument || len(w.val) < 5 {
		return nil, false
	}
	return bson.Raw(w.val), true
}

func (w *elements) array() (elements, bool) {
	if w.typ != bson.TypeArray {
		return elements{}, false
	}
	return walk(w.val), true
}

func (w *elements) boolean() (bool, bool) {
	if w.typ != bson.TypeBoolean {
		return false, false
	}
	return w.val[0] != 0, true
}

// truthy reads a boolean as the server does: true, or a number other than zero.
func (w *elements) truthy() bool {
	if b, ok := w.boolean(); ok {
		return b
	}
	n, ok := topology.Float(w.value())
	return ok && n != 0
}

func (w *elements) timestamp() (bson.Timestamp, bool) {
	if w.typ != bson.TypeTimestamp {
		return bson.Timestamp{}, false
	}
	n := binary.LittleEndian.Uint64(w.val)
	return bson.Timestamp{T: uint32(n >> 32), I: uint32(n)}, true
}

func (w *elements) date() (time.Time, bool) {
	if w.typ != bson.TypeDateTime {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(binary.LittleEndian.Uint64(w.val))).UTC(), true
}

func (w *elements) objectID() (bson.ObjectID, bool) {
	if w.typ != bson.TypeObjectID {
		return bson.ObjectID{}, false
	}
	return bson.ObjectID(w.val), true
}

// uuid reads binary data of subtype 4.
func (w *elements) uuid() ([16]byte, bool) {
	if w.typ != bson.TypeBinary || len(w.val) != 21 || w.val[4] != bson.TypeBinaryUUID {
		return [16]byte{}, false
	}
	return [16]byte(w.val[5:]), true
}

// number is an amount.
func (w *elements) number() (int64, bool) { return topology.Amount(w.value()) }

func (w *elements) value() bson.RawValue { return bson.RawValue{Type: w.typ, Value: w.val} }
