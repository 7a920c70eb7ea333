package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Count counts the documents that match a filter, without orphans. It is an aggregation
// because the count command includes orphans. The filter is sent unchanged: callers
// wrap user input in $eq. The context's deadline is sent as maxTimeMS. Needs find on
// the collection.
func (c *Client) Count(ctx context.Context, ns topology.Namespace, filter bson.D) (int64, error) {
	return c.count(ctx, ns, nil, bson.D{{Key: "$match", Value: filter}})
}

// CountUpTo is Count that stops at most+1 documents and compares texts by their bytes, as shard keys
// do, whatever collation the collection has.
func (c *Client) CountUpTo(ctx context.Context, ns topology.Namespace, filter bson.Raw, most int64) (int64, error) {
	simple := bson.D{{Key: "collation", Value: bson.D{{Key: "locale", Value: "simple"}}}}
	return c.count(ctx, ns, simple, bson.D{{Key: "$match", Value: filter}}, bson.D{{Key: "$limit", Value: most + 1}})
}

func (c *Client) count(ctx context.Context, ns topology.Namespace, options bson.D, stages ...any) (n int64, err error) {
	group := bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: nil}, {Key: "n", Value: bson.D{{Key: "$sum", Value: int32(1)}}}}}}
	cmd := bson.D{{Key: "aggregate", Value: ns.Collection()}, {Key: "pipeline", Value: append(bson.A(stages), group)},
		{Key: "cursor", Value: bson.D{}}}
	cmd = append(cmd, options...)
	r := readOp{what: "count the rows of " + quoted(string(ns)), privilege: "find on " + string(ns)}
	err = c.each(ctx, ns.Database(), cmd, r, func(doc bson.Raw) error {
		n, _ = topology.Amount(doc.Lookup("n"))
		return nil
	})
	return n, err
}
