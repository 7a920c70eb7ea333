package engine

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// find looks a field up in the document that begins at base; the offset is absolute.
func find(doc bson.Raw, base int, name string) (int, bson.RawValue) {
	r := value.Read(doc[base:])
	for r.Next() {
		if string(r.Key) == name {
			return base + r.Offset(), r.Value
		}
	}
	return noElement, bson.RawValue{}
}

// valueStart is where the value of the element at the offset begins.
func valueStart(doc bson.Raw, at int) int {
	i := at + 1
	for doc[i] != 0 {
		i++
	}
	return i + 1
}
