package shardkey

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// For tests outside the package.
var (
	DrawValue  = drawValue
	DrawNumber = drawNumber
)

// HasUnusualDecimal reports whether v is or may contain a non-canonical Decimal128: a
// coefficient above 34 digits, or a NaN or infinity with a payload.
func HasUnusualDecimal(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		rest, err := elementsOf(v.Value)
		for err == nil && len(rest) > 0 {
			var e element
			e, rest, err = next(rest)
			if HasUnusualDecimal(bson.RawValue{Type: e.typ, Value: e.value}) {
				return true
			}
		}
	case bson.TypeCodeWithScope:
		_, scope := splitCodeWithScope(v.Value)
		return HasUnusualDecimal(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: scope})
	case bson.TypeDecimal128:
		le := binary.LittleEndian
		_, bits := appendDecimal128(nil, nil, le.Uint64(v.Value[8:]), le.Uint64(v.Value))
		return bits[0] == bitsRawDecimal
	}
	return false
}
