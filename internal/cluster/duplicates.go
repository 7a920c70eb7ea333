package cluster

import (
	"bytes"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// IDs reads rows of a collection in the order of their ids, from an id on (it
// included): at most limit of them, with the named fields and _id. The mongos
// merges what the shards send, so rows of one _id on several shards come one
// after the other; rows that a migration left behind are filtered out by it.
// Only ids that are ObjectIDs are read. It is one query to all shards that own
// chunks, each of which walks at most limit entries of its _id index. Needs
// find on the collection.
func (c *Client) IDs(ctx context.Context, ns topology.Namespace, names []string, from bson.ObjectID, limit int) ([]placement.KeyedRow, error) {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: from}}}}
	more := append(limited(limit), bson.E{Key: "sort", Value: bson.D{{Key: "_id", Value: int32(1)}}}, fields(append([]string{"_id"}, names...)...))
	out := make([]placement.KeyedRow, 0, limit)
	r := read{what: "read the ids of " + quoted(string(ns)), privilege: "find on " + string(ns)}
	err := c.each(ctx, ns.Database(), find(ns.Collection(), filter, more...), r, func(doc bson.Raw) error {
		if id, ok := doc.Lookup("_id").ObjectIDOK(); ok {
			out = append(out, placement.KeyedRow{ID: id, Doc: bytes.Clone(doc)})
		}
		return nil
	})
	return out, err
}
