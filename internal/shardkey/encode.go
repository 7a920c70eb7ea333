package shardkey

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// appendInt64 appends the encoding of an int64, for example of a hash; its
// type bits are one zero.
func appendInt64(enc []byte, v int64) []byte {
	if v < 0 {
		return appendInteger(enc, true, -uint64(v))
	}
	return appendInteger(enc, false, uint64(v))
}

// appendValue appends the encoding of one value to enc and its type bits to bits, like append. Bits of several
// values are concatenated; trailing zeros may be removed only at the end of the whole.
//
// It is directly recursive for nested documents. With mutual recursion the
// compiler would move every caller's buffer to the heap.
func appendValue(enc, bits []byte, t bson.Type, value []byte, depth int) ([]byte, []byte, error) {
	n, err := valueSize(t, value)
	if err != nil {
		return nil, nil, err
	}
	if n != len(value) {
		return nil, nil, errMalformed
	}
	switch t {
	case bson.TypeEmbeddedDocument, bson.TypeArray, bson.TypeCodeWithScope:
	default:
		enc, bits = appendScalar(enc, bits, t, value)
		return enc, bits, nil
	}
	class, _ := classOf(t)
	enc = append(enc, class)
	doc := value
	if t == bson.TypeCodeWithScope {
		code, scope := splitCodeWithScope(value)
		enc, doc = appendText(enc, code), scope
	}
	if depth >= maxDepth {
		return nil, nil, errDeep
	}
	rest, err := elementsOf(doc)
	if err != nil {
		return nil, nil, err
	}
	// Type, name and value of each element, then a terminator below every type, so that a
	// document sorts after its prefix.
	for len(rest) > 0 {
		var e element
		if e, rest, err = next(rest); err != nil {
			return nil, nil, err
		}
		class, _ := classOf(e.typ)
		enc = append(append(append(enc, class), e.name...), 0)
		if enc, bits, err = appendValue(enc, bits, e.typ, e.value, depth+1); err != nil {
			return nil, nil, err
		}
	}
	return append(enc, classEnd), bits, nil
}

// appendScalar appends a value without nested documents that valueSize has accepted.
func appendScalar(enc, bits []byte, t bson.Type, value []byte) ([]byte, []byte) {
	le := binary.LittleEndian
	class, _ := classOf(t)
	switch t {
	case bson.TypeInt32:
		return appendInt64(enc, int64(int32(le.Uint32(value)))), append(bits, bitsInt32)
	case bson.TypeInt64:
		return appendInt64(enc, int64(le.Uint64(value))), append(bits, bitsInt64)
	case bson.TypeDouble:
		return appendDouble(enc, bits, math.Float64frombits(le.Uint64(value)))
	case bson.TypeDecimal128:
		return appendDecimal128(enc, bits, le.Uint64(value[8:]), le.Uint64(value))
	case bson.TypeString:
		return appendText(append(enc, class), text(value)), append(bits, bitsString)
	case bson.TypeSymbol:
		return appendText(append(enc, class), text(value)), append(bits, bitsSymbol)
	case bson.TypeJavaScript:
		return appendText(append(enc, class), text(value)), bits
	case bson.TypeDateTime:
		enc = binary.BigEndian.AppendUint64(append(enc, class), le.Uint64(value)^1<<63)
	case bson.TypeTimestamp:
		enc = binary.BigEndian.AppendUint64(append(enc, class), le.Uint64(value))
	case bson.TypeBinary, bson.TypeDBPointer:
		// Shorter first, then the bytes that follow the length: a binary's
		// subtype and data, a pointer's namespace and id.
		enc = binary.BigEndian.AppendUint32(append(enc, class), le.Uint32(value))
		enc = append(enc, value[4:]...)
	default:
		// null, undefined, MinKey and MaxKey have no bytes. ObjectID and bool sort by their
		// bytes; a regex is two NUL-terminated strings.
		enc = append(append(enc, class), value...)
	}
	return enc, bits
}

// appendText escapes NUL as 00 ff and ends in 00 00: "a" < "a\x00" < "a\x01".
func appendText(enc, s []byte) []byte {
	for _, c := range s {
		if c == 0 {
			enc = append(enc, 0, 0xff)
		} else {
			enc = append(enc, c)
		}
	}
	return append(enc, 0, 0)
}
