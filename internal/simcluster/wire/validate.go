package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// MaxDepth is how deep documents and arrays may be nested. It is the server's limit
// (bson/bson_depth.h) and limits recursion.
const MaxDepth = 200

// Validate reports the first fault of a document: wrong lengths, missing
// terminators, unknown types, nesting beyond MaxDepth. It does not check that strings are UTF-8, nor does the server.
func Validate(doc bson.Raw) error {
	if size, ok := documentSize(doc); !ok || size != len(doc) {
		return errors.New("BSON document has a wrong length")
	}
	if err := checkDepth(doc, 1); err != nil { // before the driver's check, which is recursive
		return err
	}
	return doc.Validate()
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

func checkDepth(doc bson.Raw, depth int) error {
	if depth > MaxDepth {
		return fmt.Errorf("BSON document is nested deeper than %d levels", MaxDepth)
	}
	for r := value.Read(doc); r.Next(); {
		inner := bson.Raw(r.Value.Value)
		switch r.Value.Type {
		case bson.TypeEmbeddedDocument, bson.TypeArray:
		case bson.TypeCodeWithScope:
			_, inner, _ = r.Value.CodeWithScopeOK()
		default:
			continue
		}
		if err := checkDepth(inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}
