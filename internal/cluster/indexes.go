package cluster

import (
	"bytes"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

var _ operation.IndexReader = (*Client)(nil)

// mostIndexes is how many indexes a collection can have, so one batch has them all.
const mostIndexes = 64

// Indexes reads the indexes of a collection with listIndexes, which a mongos sends to one
// shard that has the collection.
func (c *Client) Indexes(ctx context.Context, ns topology.Namespace) (out []operation.Index, err error) {
	cmd := bson.D{
		{Key: "listIndexes", Value: ns.Collection()},
		{Key: "cursor", Value: bson.D{{Key: "batchSize", Value: int32(mostIndexes)}}},
	}
	r := readOp{what: "read the indexes of " + quoted(string(ns)), privilege: on("listIndexes", ns)}
	err = c.each(ctx, ns.Database(), cmd, r, func(doc bson.Raw) error {
		out = append(out, decodeIndex(doc))
		return nil
	})
	return out, err
}

func decodeIndex(doc bson.Raw) (x operation.Index) {
	x.Name, _ = doc.Lookup("name").StringValueOK()
	if key, ok := doc.Lookup("key").DocumentOK(); ok {
		x.Key = bytes.Clone(key)
	}
	x.Unique = isTrue(doc.Lookup("unique"))
	x.Sparse, x.Hidden = isTrue(doc.Lookup("sparse")), isTrue(doc.Lookup("hidden"))
	x.Partial = doc.Lookup("partialFilterExpression").Type != 0
	x.Collated = doc.Lookup("collation").Type != 0 // the simple collation is not listed
	return x
}

// isTrue reports whether a flag is set. Old indexes have numbers as flags.
func isTrue(v bson.RawValue) bool {
	if b, ok := v.BooleanOK(); ok {
		return b
	}
	n, ok := topology.Float(v)
	return ok && n != 0
}
