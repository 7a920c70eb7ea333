package shardkey

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Building documents: begin, append elements, end. The driver's builder is not used
// because it allocates for each element.

func beginDocument(dst []byte) []byte { return append(dst, 0, 0, 0, 0) }

func appendElement(dst []byte, t bson.Type, name string, value []byte) []byte {
	return append(appendHeader(dst, t, name), value...)
}

func appendHeader(dst []byte, t bson.Type, name string) []byte {
	return append(append(append(dst, byte(t)), name...), 0)
}

// endDocument closes the document that was begun at start.
func endDocument(dst []byte, start int) []byte {
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}

// document is the key document of these values.
func (p Pattern) document(values []bson.RawValue) bson.Raw {
	doc := beginDocument(nil)
	for i, v := range values {
		doc = appendElement(doc, v.Type, p.fields[i].Name, v.Value)
	}
	return endDocument(doc, 0)
}
