package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// MaxDepth is how deep documents and arrays may be nested. It is the server's limit
// (bson/bson_depth.h) and limits recursion.
const MaxDepth = 200

var errTruncated = errors.New("BSON element ends outside its document")

// Validate reports the first fault of a document: wrong lengths, missing
// terminators, unknown types, a boolean that is neither 0 nor 1, nesting beyond
// MaxDepth. It does not check that strings are UTF-8, nor does the server.
func Validate(doc bson.Raw) error {
	size, ok := documentSize(doc)
	if !ok || size != len(doc) {
		return errors.New("BSON document has a wrong length")
	}
	return validateElements(doc[4:], 1)
}

// documentSize reads the length prefix of a document and whether p can hold it.
func documentSize(p []byte) (int, bool) {
	if len(p) < 5 {
		return 0, false
	}
	size := int64(int32(binary.LittleEndian.Uint32(p)))
	if size < 5 || size > int64(len(p)) || p[size-1] != 0 {
		return 0, false
	}
	return int(size), true
}

// validateElements checks the elements of a document whose length prefix is cut
// off and whose last byte is the terminator.
func validateElements(p []byte, depth int) error {
	if depth > MaxDepth {
		return fmt.Errorf("BSON document is nested deeper than %d levels", MaxDepth)
	}
	for {
		kind := bson.Type(p[0])
		if kind == 0 {
			if len(p) != 1 {
				return errors.New("BSON document ends before its length")
			}
			return nil
		}
		end := bytes.IndexByte(p[1:], 0)
		if end < 0 {
			return errTruncated
		}
		p = p[end+2:]
		n, err := valueSize(kind, p, depth)
		if err != nil {
			return err
		}
		// One byte must be left: the terminator of this document.
		if n >= len(p) {
			return errTruncated
		}
		p = p[n:]
	}
}

// valueSize is the length of a value of the given type at the start of p. The caller
// must check that the result is at most len(p).
func valueSize(kind bson.Type, p []byte, depth int) (int, error) {
	switch kind {
	case bson.TypeDouble, bson.TypeDateTime, bson.TypeTimestamp, bson.TypeInt64:
		return 8, nil
	case bson.TypeInt32:
		return 4, nil
	case bson.TypeDecimal128:
		return 16, nil
	case bson.TypeObjectID:
		return 12, nil
	case bson.TypeNull, bson.TypeUndefined, bson.TypeMinKey, bson.TypeMaxKey:
		return 0, nil
	case bson.TypeBoolean:
		if len(p) > 0 && p[0] > 1 {
			return 0, errors.New("BSON boolean is neither 0 nor 1")
		}
		return 1, nil
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return stringSize(p)
	case bson.TypeBinary:
		return binarySize(p)
	case bson.TypeRegex:
		return regexSize(p)
	case bson.TypeDBPointer:
		n, err := stringSize(p)
		return n + 12, err
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		size, ok := documentSize(p)
		if !ok {
			return 0, errTruncated
		}
		return size, validateElements(p[4:size], depth+1)
	case bson.TypeCodeWithScope:
		return scopeSize(p, depth)
	}
	return 0, fmt.Errorf("BSON type 0x%02x is unknown", byte(kind))
}

func stringSize(p []byte) (int, error) {
	if len(p) < 5 {
		return 0, errTruncated
	}
	n := int64(int32(binary.LittleEndian.Uint32(p)))
	if n < 1 || n > int64(len(p)-4) || p[4+n-1] != 0 {
		return 0, errors.New("BSON string has a wrong length")
	}
	return 4 + int(n), nil
}

func binarySize(p []byte) (int, error) {
	if len(p) < 5 {
		return 0, errTruncated
	}
	n := int64(int32(binary.LittleEndian.Uint32(p)))
	if n < 0 || n > int64(len(p)-5) {
		return 0, errors.New("BSON binary has a wrong length")
	}
	// Subtype 2 repeats its length inside; readers rely on it.
	if p[4] == 2 && (n < 4 || int64(int32(binary.LittleEndian.Uint32(p[5:]))) != n-4) {
		return 0, errors.New("BSON binary of subtype 2 has a wrong inner length")
	}
	return 5 + int(n), nil
}

func regexSize(p []byte) (int, error) {
	pattern := bytes.IndexByte(p, 0)
	if pattern < 0 {
		return 0, errTruncated
	}
	options := bytes.IndexByte(p[pattern+1:], 0)
	if options < 0 {
		return 0, errTruncated
	}
	return pattern + options + 2, nil
}

func scopeSize(p []byte, depth int) (int, error) {
	if len(p) < 4 {
		return 0, errTruncated
	}
	total := int64(int32(binary.LittleEndian.Uint32(p)))
	if total < 14 || total > int64(len(p)) {
		return 0, errTruncated
	}
	code, err := stringSize(p[4:total])
	if err != nil {
		return 0, err
	}
	scope := p[4+code : total]
	size, ok := documentSize(scope)
	if !ok || size != len(scope) {
		return 0, errTruncated
	}
	return int(total), validateElements(scope[4:], depth+1)
}
