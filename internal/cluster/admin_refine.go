package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// RefineKey adds fields to the end of a shard key; 4.4 and later.
func (c *Client) RefineKey(ctx context.Context, run string, ns topology.Namespace, key bson.Raw) error {
	return c.admin(ctx, run, bson.D{{Key: "refineCollectionShardKey", Value: ns}, {Key: "key", Value: key}},
		action{what: "refine the shard key", privilege: on("refineCollectionShardKey", ns)})
}
