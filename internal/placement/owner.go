package placement

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Owner is the shard that holds, or would hold, a row with these values of the
// shard key's fields, all of them in order and as stored: hashing is done here.
// It is the part of Locate that programs ask millions of times, and does not
// allocate for a key of one hashed field. The error is fault.Invalid for values
// that are no such key, fault.Unavailable when the collection's chunks are not
// known.
func Owner(c *topology.Collection, values ...bson.RawValue) (string, error) {
	if c.Chunks.Len() == 0 {
		return "", fault.New(fault.Unavailable, "The chunks of %s are not known yet.", string(c.NS))
	}
	if len(values) == 1 && c.Chunks.ByHash() {
		h, err := shardkey.Hash(values[0])
		if err != nil {
			return "", err
		}
		return c.Chunks.HashOwner(h), nil
	}
	key, err := c.Key.KeyOf(values...)
	if err != nil {
		return "", err
	}
	_, chunk := c.Chunks.Find(key)
	return chunk.Shard, nil
}
