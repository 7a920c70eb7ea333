package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// MovePrimary sends movePrimary. The server's privilege is moveChunk on the database.
func (c *Client) MovePrimary(ctx context.Context, run, db, to string) error {
	return c.admin(ctx, run, bson.D{{Key: "movePrimary", Value: db}, {Key: "to", Value: to}},
		action{what: "move the primary of the database", privilege: "moveChunk on " + db, limit: migrationTime})
}

// MoveCollection sends moveCollection.
func (c *Client) MoveCollection(ctx context.Context, run string, ns topology.Namespace, to string) error {
	return c.admin(ctx, run, bson.D{{Key: "moveCollection", Value: ns}, {Key: "toShard", Value: to}},
		action{what: "move the collection", privilege: on("moveCollection", ns), limit: migrationTime})
}

// UnshardCollection sends unshardCollection.
func (c *Client) UnshardCollection(ctx context.Context, run string, ns topology.Namespace, to string) error {
	cmd := bson.D{{Key: "unshardCollection", Value: ns}}
	if to != "" {
		cmd = append(cmd, bson.E{Key: "toShard", Value: to})
	}
	return c.admin(ctx, run, cmd, action{what: "unshard the collection", privilege: on("unshardCollection", ns), limit: migrationTime})
}

// AbortMoveCollection sends abortMoveCollection.
func (c *Client) AbortMoveCollection(ctx context.Context, run string, ns topology.Namespace) error {
	return c.admin(ctx, run, bson.D{{Key: "abortMoveCollection", Value: ns}},
		action{what: "abort the move of the collection", privilege: on("moveCollection", ns)})
}

// AbortUnshardCollection sends abortUnshardCollection.
func (c *Client) AbortUnshardCollection(ctx context.Context, run string, ns topology.Namespace) error {
	return c.admin(ctx, run, bson.D{{Key: "abortUnshardCollection", Value: ns}},
		action{what: "abort the unsharding of the collection", privilege: on("unshardCollection", ns)})
}
