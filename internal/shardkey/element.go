package shardkey

import (
	"bytes"
	"encoding/binary"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxDepth is how deep documents may nest, as in the server
// (BSONDepth::kDefaultMaxAllowableDepth).
const maxDepth = 200

// Errors of malformed BSON and malformed encodings. They are causes; the message for
// users is added where the field's name is known.
var (
	errMalformed = errors.New("malformed BSON")
	errDeep      = errors.New("documents nested too deeply")
	errType      = errors.New("unknown BSON type")
	errEncoding  = errors.New("not an encoded shard key")
)

// element is one element of a document; name and value alias it. The driver's accessors
// are not used because they copy, and because they drop the inner length of old binary
// (subtype 2), which hash and order include.
type element struct {
	typ   bson.Type
	name  []byte
	value []byte
}

// elementsOf is the content of a document without length and terminator, for next. It
// checks that the length is that of doc and that it ends in NUL.
func elementsOf(doc []byte) ([]byte, error) {
	if len(doc) < 5 || uint64(binary.LittleEndian.Uint32(doc)) != uint64(len(doc)) || doc[len(doc)-1] != 0 {
		return nil, errMalformed
	}
	return doc[4 : len(doc)-1], nil
}

// next splits off the first of elements, which must not be empty. (An iterator with
// state would move every document to the heap.)
func next(elements []byte) (e element, rest []byte, err error) {
	e.typ = bson.Type(elements[0])
	end := bytes.IndexByte(elements[1:], 0)
	if end < 0 {
		return element{}, nil, errMalformed
	}
	e.name = elements[1 : 1+end]
	body := elements[2+end:]
	n, err := valueSize(e.typ, body)
	if err != nil {
		return element{}, nil, err
	}
	e.value = body[:n:n]
	return e, body[n:], nil
}

// valueSize is the size of the value of type t at the start of b. It checks lengths and
// terminators, but not the content of nested documents.
func valueSize(t bson.Type, b []byte) (int, error) {
	n := 0
	switch t {
	case bson.TypeNull, bson.TypeUndefined, bson.TypeMinKey, bson.TypeMaxKey:
	case bson.TypeBoolean:
		if len(b) > 0 && b[0] > 1 {
			return 0, errMalformed
		}
		n = 1
	case bson.TypeInt32:
		n = 4
	case bson.TypeDouble, bson.TypeInt64, bson.TypeDateTime, bson.TypeTimestamp:
		n = 8
	case bson.TypeObjectID:
		n = 12
	case bson.TypeDecimal128:
		n = 16
	case bson.TypeString, bson.TypeSymbol, bson.TypeJavaScript:
		return stringSize(b)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return documentSize(b)
	case bson.TypeBinary:
		if len(b) < 5 || binary.LittleEndian.Uint32(b) > uint32(len(b)-5) {
			return 0, errMalformed
		}
		n = 5 + int(binary.LittleEndian.Uint32(b))
	case bson.TypeRegex:
		pattern := bytes.IndexByte(b, 0)
		if pattern < 0 {
			return 0, errMalformed
		}
		options := bytes.IndexByte(b[pattern+1:], 0)
		if options < 0 {
			return 0, errMalformed
		}
		n = pattern + options + 2
	case bson.TypeDBPointer:
		s, err := stringSize(b)
		if err != nil {
			return 0, err
		}
		n = s + 12
	case bson.TypeCodeWithScope:
		return codeWithScopeSize(b)
	default:
		return 0, errType
	}
	if len(b) < n {
		return 0, errMalformed
	}
	return n, nil
}

func stringSize(b []byte) (int, error) {
	if len(b) < 5 {
		return 0, errMalformed
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if n < 1 || n > uint64(len(b)-4) || b[4+n-1] != 0 {
		return 0, errMalformed
	}
	return 4 + int(n), nil
}

func documentSize(b []byte) (int, error) {
	if len(b) < 5 {
		return 0, errMalformed
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if n < 5 || n > uint64(len(b)) || b[n-1] != 0 {
		return 0, errMalformed
	}
	return int(n), nil
}

func codeWithScopeSize(b []byte) (int, error) {
	if len(b) < 14 {
		return 0, errMalformed
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if n < 14 || n > uint64(len(b)) {
		return 0, errMalformed
	}
	code, err := stringSize(b[4:n])
	if err != nil {
		return 0, err
	}
	scope, err := documentSize(b[4+code : n])
	if err != nil || uint64(4+code+scope) != n {
		return 0, errMalformed
	}
	return int(n), nil
}

// splitCodeWithScope splits a value that valueSize has accepted.
func splitCodeWithScope(value []byte) (code, scope []byte) {
	n := 4 + int(binary.LittleEndian.Uint32(value[4:]))
	return value[8 : 4+n-1], value[4+n:]
}

// text is the bytes of a string value that valueSize has accepted, without
// length and terminator. They may hold NUL and need not be UTF-8.
func text(value []byte) []byte { return value[4 : len(value)-1] }
