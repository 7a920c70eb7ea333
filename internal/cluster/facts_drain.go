package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// remainsFact counts what is left on a shard. Counting chunks by shard alone reads all of
// config.chunks, as the server does for removeShard, so callers look at the table first.
func (c *Client) remainsFact(ctx context.Context, f operation.Fact) (map[string]string, error) {
	refs, err := c.shardReferences(ctx, f.Shard)
	if err != nil {
		return nil, err
	}
	counts := [2]int{}
	for i, on := range []struct{ coll, field string }{{"chunks", "shard"}, {"databases", "primary"}} {
		err := c.each(ctx, "config", bson.D{
			{Key: "aggregate", Value: on.coll},
			{Key: "pipeline", Value: bson.A{
				bson.D{{Key: "$match", Value: bson.D{{Key: on.field, Value: bson.D{{Key: "$in", Value: refs}}}}}},
				bson.D{{Key: "$count", Value: "n"}},
			}},
			{Key: "cursor", Value: bson.D{}},
			withMajority,
		}, findOn(on.coll, "count what is left on the shard"), func(doc bson.Raw) error {
			n, ok := topology.Amount(doc.Lookup("n"))
			if !ok {
				return fault.New(fault.Internal, "The cluster's count of what is left on the shard is no number of things.")
			}
			counts[i] = int(n)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return operation.RemainsFields(counts[0], counts[1]), nil
}

// shardReferences are the values by which other documents may name a shard: its name, and
// its uuid where it has one.
func (c *Client) shardReferences(ctx context.Context, shard string) (bson.A, error) {
	refs := bson.A{shard}
	cmd := find("shards", bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: shard}}}}, append(singleBatch(1), withMajority)...)
	err := c.each(ctx, "config", cmd, findOn("shards", "read the shard"), func(doc bson.Raw) error {
		if subtype, data, ok := doc.Lookup("uuid").BinaryOK(); ok {
			refs = append(refs, bson.Binary{Subtype: subtype, Data: append([]byte(nil), data...)})
		}
		return nil
	})
	return refs, err
}
