package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// on formats a privilege with its namespace.
func on(privilege string, ns topology.Namespace) string { return privilege + " on " + string(ns) }

// SplitAt splits the chunk that contains the key.
func (c *Client) SplitAt(ctx context.Context, run string, ns topology.Namespace, at bson.Raw) error {
	return c.admin(ctx, run, bson.D{{Key: "split", Value: ns}, {Key: "middle", Value: at}},
		action{what: "split the chunk", privilege: on("splitChunk", ns)})
}

// SplitMedian splits a chunk at the median of its documents.
func (c *Client) SplitMedian(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw) error {
	return c.admin(ctx, run, bson.D{{Key: "split", Value: ns}, {Key: "bounds", Value: bson.A{min, max}}},
		action{what: "split the chunk", privilege: on("splitChunk", ns)})
}

// MergeChunks merges the chunks of a range.
func (c *Client) MergeChunks(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw) error {
	return c.admin(ctx, run, bson.D{{Key: "mergeChunks", Value: ns}, {Key: "bounds", Value: bson.A{min, max}}},
		action{what: "merge the chunks", privilege: on("splitChunk", ns)})
}

// MergeOnShard merges all mergeable chunks of a shard; 7.0 and later.
func (c *Client) MergeOnShard(ctx context.Context, run string, ns topology.Namespace, shard string) error {
	return c.admin(ctx, run, bson.D{{Key: "mergeAllChunksOnShard", Value: ns}, {Key: "shard", Value: shard}},
		action{what: "merge the chunks of a shard", privilege: on("splitChunk", ns)})
}

// ClearJumbo clears the jumbo flag of a chunk.
func (c *Client) ClearJumbo(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw) error {
	return c.admin(ctx, run, bson.D{{Key: "clearJumboFlag", Value: ns}, {Key: "bounds", Value: bson.A{min, max}}},
		action{what: "clear the jumbo flag", privilege: on("clearJumboFlag", ns)})
}

// MoveChunk moves one whole chunk.
func (c *Client) MoveChunk(ctx context.Context, run string, m topology.Move) error {
	cmd := bson.D{
		{Key: "moveChunk", Value: m.NS},
		{Key: "bounds", Value: bson.A{m.Min, m.Max}},
		{Key: "to", Value: m.To},
	}
	if m.Force {
		cmd = append(cmd, bson.E{Key: "forceJumbo", Value: true})
	}
	if m.Wait {
		cmd = append(cmd, bson.E{Key: "_waitForDelete", Value: true})
	}
	return c.admin(ctx, run, cmd, action{what: "move the chunk", privilege: on("moveChunk", m.NS), limit: migrationTime})
}

// MoveRange moves a part of a chunk; 6.0 and later.
func (c *Client) MoveRange(ctx context.Context, run string, m topology.Move) error {
	cmd := bson.D{
		{Key: "moveRange", Value: m.NS},
		{Key: "min", Value: m.Min}, {Key: "max", Value: m.Max},
		{Key: "toShard", Value: m.To},
	}
	if m.Force {
		cmd = append(cmd, bson.E{Key: "forceJumbo", Value: true})
	}
	if m.Wait {
		cmd = append(cmd, bson.E{Key: "waitForDelete", Value: true})
	}
	return c.admin(ctx, run, cmd, action{what: "move the range", privilege: on("moveChunk", m.NS), limit: migrationTime})
}
