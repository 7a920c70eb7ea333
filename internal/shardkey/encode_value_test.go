package shardkey

import (
	"go.mongodb.org/mongo-driver/v2/bson"
)

// encodeValue appends the encoding of one value to enc and its type bits to bits, as keys do with each of their
// fields. Every BSON value is accepted, including arrays, which Pattern rejects.
func encodeValue(enc, bits []byte, v bson.RawValue) ([]byte, []byte, error) {
	return appendValue(enc, bits, v.Type, v.Value, 0)
}
