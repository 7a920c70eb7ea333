package cluster

import (
	"bytes"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// IDs reads at most limit rows of a collection in _id order, from an id on (inclusive; the zero value is the start),
// with the named fields and _id. The mongos merges the shards' results, so rows with the same _id on several shards
// are adjacent; orphans are filtered out. It is one query to all shards that own chunks, each of which scans at most
// limit entries of its _id index, and a second one where the ids of one type end: $gte finds values of one type only.
// Needs find on the collection.
func (c *Client) IDs(ctx context.Context, ns topology.Namespace, names []string, from bson.RawValue,
	limit int) ([]placement.KeyedRow, error) {
	if from.IsZero() {
		return c.idsWhere(ctx, ns, names, bson.D{}, limit)
	}
	out, err := c.idsWhere(ctx, ns, names, bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: from}}}}, limit)
	if later := typesAfter(from.Type); err == nil && len(out) < limit && len(later) > 0 {
		var more []placement.KeyedRow
		more, err = c.idsWhere(ctx, ns, names, bson.D{{Key: "_id", Value: bson.D{{Key: "$type", Value: later}}}}, limit-len(out))
		out = append(out, more...)
	}
	return out, err
}

// idsWhere reads rows in _id order by a condition on it.
func (c *Client) idsWhere(ctx context.Context, ns topology.Namespace, names []string, filter bson.D,
	limit int) ([]placement.KeyedRow, error) {
	more := append(singleBatch(limit), bson.E{Key: "sort", Value: bson.D{{Key: "_id", Value: int32(1)}}},
		fields(append([]string{"_id"}, names...)...))
	out := make([]placement.KeyedRow, 0, limit)
	r := readOp{what: "read the ids of " + quoted(string(ns)), privilege: "find on " + string(ns)}
	err := c.each(ctx, ns.Database(), find(ns.Collection(), filter, more...), r, func(doc bson.Raw) error {
		row := placement.KeyedRow{Doc: bytes.Clone(doc)}
		row.ID, _, _ = placement.IDOf(row.Doc.Lookup("_id"))
		out = append(out, row)
		return nil
	})
	return out, err
}

// RowsByID reads the rows of a collection whose _id is one of the values, with the named fields and _id. If
// _id does not lead the shard key, all shards that own chunks are queried, each by its _id index. The values are
// compared literally; the context's deadline is sent as maxTimeMS. Needs find on the collection.
func (c *Client) RowsByID(ctx context.Context, ns topology.Namespace, names []string, values []bson.RawValue,
	limit int) ([]bson.Raw, error) {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: values}}}}
	more := append(singleBatch(limit), fields(append([]string{"_id"}, names...)...))
	var out []bson.Raw
	r := readOp{what: "look an id up in " + quoted(string(ns)), privilege: "find on " + string(ns)}
	err := c.each(ctx, ns.Database(), find(ns.Collection(), filter, more...), r, func(doc bson.Raw) error {
		out = append(out, bytes.Clone(doc))
		return nil
	})
	return out, err
}
