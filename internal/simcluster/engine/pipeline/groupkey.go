package pipeline

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// appendKey appends bytes that two values share exactly when they compare
// equal: numbers lose their type, everything else keeps rank and bytes. The
// bytes have no order; they are only for maps.
func appendKey(b []byte, v bson.RawValue) []byte {
	b = append(b, byte(value.Rank(v.Type)))
	switch v.Type {
	case 0: // distinguish missing from undefined, which has the same rank
		return append(b, 0)
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return appendNumber(b, v)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		for name, e := range value.Elements(v.Value) {
			b = append(b, 1)
			b = append(b, name...)
			b = append(b, 0)
			b = appendKey(b, e)
		}
		return append(b, 0)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v.Value)))
	return append(b, v.Value...)
}

// appendNumber writes whole numbers as int64 and others as double; decimals
// that are neither keep their text.
func appendNumber(b []byte, v bson.RawValue) []byte {
	if n, ok := value.Long(v); ok {
		return binary.LittleEndian.AppendUint64(append(b, 'i'), uint64(n))
	}
	f := value.Float(v)
	switch {
	case math.IsNaN(f):
		return append(b, 'n')
	case v.Type != bson.TypeDecimal128 || value.Equal(v, value.Double(f)):
		return binary.LittleEndian.AppendUint64(append(b, 'd'), math.Float64bits(f))
	}
	return append(append(b, 'x'), v.Decimal128().String()...)
}
