package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/topology"
)

// reshardTime is the time limit of a resharding without another one. The operation
// continues on the config server when it is over. The server takes at most 24 days.
const reshardTime = 20 * 24 * migrationTime

// ReshardCollection changes the shard key of a collection; 5.0 and later.
func (c *Client) ReshardCollection(ctx context.Context, run string, ns topology.Namespace, r actions.Reshard) error {
	cmd := bson.D{{Key: "reshardCollection", Value: ns}, {Key: "key", Value: r.Key}}
	if r.Zones != nil {
		zones := bson.A{}
		for _, z := range r.Zones {
			zones = append(zones, bson.D{{Key: "min", Value: z.Min}, {Key: "max", Value: z.Max}, {Key: "zone", Value: z.Zone}})
		}
		cmd = append(cmd, bson.E{Key: "zones", Value: zones})
	}
	if r.Chunks > 0 {
		cmd = append(cmd, bson.E{Key: "numInitialChunks", Value: int64(r.Chunks)})
	}
	return c.admin(ctx, run, cmd, action{what: "reshard the collection", privilege: on("reshardCollection", ns), limit: reshardTime})
}

// CommitResharding makes a running resharding commit as early as possible.
func (c *Client) CommitResharding(ctx context.Context, run string, ns topology.Namespace) error {
	return c.admin(ctx, run, bson.D{{Key: "commitReshardCollection", Value: ns}},
		action{what: "commit the resharding", privilege: on("reshardCollection", ns), limit: migrationTime})
}

// AbortResharding ends a running resharding without a change.
func (c *Client) AbortResharding(ctx context.Context, run string, ns topology.Namespace) error {
	return c.admin(ctx, run, bson.D{{Key: "abortReshardCollection", Value: ns}},
		action{what: "abort the resharding", privilege: on("reshardCollection", ns), limit: migrationTime})
}
