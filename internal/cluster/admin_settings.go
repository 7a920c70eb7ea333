package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// SetMigrations permits or forbids migrations of a collection; 5.0 and later.
func (c *Client) SetMigrations(ctx context.Context, run string, ns topology.Namespace, allowed bool) error {
	return c.admin(ctx, run, bson.D{{Key: "setAllowMigrations", Value: ns}, {Key: "allowMigrations", Value: allowed}},
		action{what: "allow or forbid migrations", privilege: on("moveChunk", ns)})
}

// SetChunkSize sets the chunk size of a collection; 5.3 and later. MB are mebibytes.
func (c *Client) SetChunkSize(ctx context.Context, run string, ns topology.Namespace, mb int) error {
	return c.configureBalancing(ctx, run, ns, bson.E{Key: "chunkSize", Value: int32(mb)}, "set the chunk size")
}

// SetAutoMerge lets the balancer merge chunks of a collection, or not; 7.0 and later.
func (c *Client) SetAutoMerge(ctx context.Context, run string, ns topology.Namespace, on bool) error {
	return c.configureBalancing(ctx, run, ns, bson.E{Key: "enableAutoMerger", Value: on}, "switch automatic merging of the collection")
}

// Defragment starts or ends the defragmentation of a collection; 5.3 and later.
func (c *Client) Defragment(ctx context.Context, run string, ns topology.Namespace, on bool) error {
	return c.configureBalancing(ctx, run, ns, bson.E{Key: "defragmentCollection", Value: on}, "switch defragmentation of the collection")
}

// configureBalancing sets one option of configureCollectionBalancing; the server leaves
// those alone that are not given.
func (c *Client) configureBalancing(ctx context.Context, run string, ns topology.Namespace, option bson.E, what string) error {
	return c.admin(ctx, run, bson.D{{Key: "configureCollectionBalancing", Value: ns}, option},
		action{what: what, privilege: on("splitChunk and moveChunk", ns)})
}
