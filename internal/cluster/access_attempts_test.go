package cluster_test

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/cluster"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// attempt is one call of a client method.
type attempt struct {
	name string
	do   func(context.Context, *cluster.Client) error
}

const sampleNS = topology.Namespace("yorkie-meta.documents")

// readings lists all read methods. meta is of an existing collection.
func readings(meta topology.Meta) []attempt {
	id := bson.NewObjectID()
	nothing := func(topology.Chunk) error { return nil }
	return []attempt{
		{"Heads", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.Heads(ctx, topology.Window{})
			return err
		}},
		{"Chunks", func(ctx context.Context, c *cluster.Client) error {
			return c.Chunks(ctx, meta, topology.Version{}, nothing)
		}},
		{"Shards", func(ctx context.Context, c *cluster.Client) error { _, err := c.Shards(ctx); return err }},
		{"Databases", func(ctx context.Context, c *cluster.Client) error { _, err := c.Databases(ctx); return err }},
		{"Zones", func(ctx context.Context, c *cluster.Client) error { _, err := c.Zones(ctx); return err }},
		{"Settings", func(ctx context.Context, c *cluster.Client) error { _, err := c.Settings(ctx); return err }},
		{"Routers", func(ctx context.Context, c *cluster.Client) error { _, err := c.Routers(ctx); return err }},
		{"BalancerStatus", func(ctx context.Context, c *cluster.Client) error { _, _, err := c.BalancerStatus(ctx); return err }},
		{"Events", func(ctx context.Context, c *cluster.Client) error { _, err := c.Events(ctx, nil, 5); return err }},
		{"BalancerActions", func(ctx context.Context, c *cluster.Client) error { _, err := c.BalancerActions(ctx, 5); return err }},
		{"Sizes", func(ctx context.Context, c *cluster.Client) error { _, err := c.Sizes(ctx, sampleNS); return err }},
		{"AllSizes", func(ctx context.Context, c *cluster.Client) error { _, err := c.AllSizes(ctx); return err }},
		{"Disks", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.Disks(ctx, "yorkie-meta", nil)
			return err
		}},
		{"Collections", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.Collections(ctx, "yorkie-meta")
			return err
		}},
		{"TargetShards", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.TargetShards(ctx, sampleNS, bson.D{{Key: "_id", Value: id}})
			return err
		}},
		{"Projects", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.Projects(ctx, "yorkie-meta", profile.Yorkie().Names, bson.ObjectID{}, true)
			return err
		}},
		{"DocumentsByKey", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.DocumentsByKey(ctx, "yorkie-meta", profile.Yorkie().Keys, id, "k", 5)
			return err
		}},
		{"DocumentsByKeyIn", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.DocumentsByKeyIn(ctx, "yorkie-meta", profile.Yorkie().Keys, []bson.ObjectID{id}, []string{"k"}, 5)
			return err
		}},
		{"DocumentsOf", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.DocumentsOf(ctx, "yorkie-meta", profile.Yorkie().Keys, id, placement.DocumentPage{Limit: 5})
			return err
		}},
		{"RowsByID", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.RowsByID(ctx, sampleNS, []string{"project_id"}, []bson.RawValue{placement.ObjectIDValue(id)}, 5)
			return err
		}},
		{"ByID", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.ByID(ctx, "yorkie-meta", profile.Yorkie().RowFields("clients"), id, 5)
			return err
		}},
		{"Balanced", func(ctx context.Context, c *cluster.Client) error { _, _, err := c.Balanced(ctx, sampleNS); return err }},
	}
}

// changes lists all methods that change something. Their arguments do not exist, so
// that an allowed command has no effect.
func changes() []attempt {
	bound := func(n int) bson.Raw {
		raw, _ := bson.Marshal(bson.D{{Key: "project_id", Value: bson.ObjectID{11: byte(n)}}})
		return raw
	}
	move := topology.Move{NS: sampleNS, Min: bound(1), Max: bound(2), To: "nowhere"}
	return []attempt{
		{"SplitAt", func(ctx context.Context, c *cluster.Client) error { return c.SplitAt(ctx, "", sampleNS, bound(1)) }},
		{"SplitMedian", func(ctx context.Context, c *cluster.Client) error {
			return c.SplitMedian(ctx, "", sampleNS, bound(1), bound(2))
		}},
		{"MergeChunks", func(ctx context.Context, c *cluster.Client) error {
			return c.MergeChunks(ctx, "", sampleNS, bound(1), bound(2))
		}},
		{"MergeOnShard", func(ctx context.Context, c *cluster.Client) error {
			return c.MergeOnShard(ctx, "", sampleNS, "nowhere")
		}},
		{"RefineKey", func(ctx context.Context, c *cluster.Client) error {
			return c.RefineKey(ctx, "", sampleNS, keyOf(int32(1)))
		}},
		{"ClearJumbo", func(ctx context.Context, c *cluster.Client) error {
			return c.ClearJumbo(ctx, "", sampleNS, bound(1), bound(2))
		}},
		{"MoveChunk", func(ctx context.Context, c *cluster.Client) error { return c.MoveChunk(ctx, "", move) }},
		{"MoveRange", func(ctx context.Context, c *cluster.Client) error { return c.MoveRange(ctx, "", move) }},
		{"ReshardCollection", func(ctx context.Context, c *cluster.Client) error {
			return c.ReshardCollection(ctx, "", sampleNS, actions.Reshard{Key: bound(2)}) // refused: a key has 1 or "hashed"
		}},
		{"CommitResharding", func(ctx context.Context, c *cluster.Client) error { return c.CommitResharding(ctx, "", sampleNS) }},
		{"BeginRemoval", func(ctx context.Context, c *cluster.Client) error { return c.BeginRemoval(ctx, "", "nowhere") }},
		{"StartDraining", func(ctx context.Context, c *cluster.Client) error { return c.StartDraining(ctx, "", "nowhere") }},
		{"StopDraining", func(ctx context.Context, c *cluster.Client) error { return c.StopDraining(ctx, "", "nowhere") }},
		{"RemoveShard", func(ctx context.Context, c *cluster.Client) error { return c.RemoveShard(ctx, "", "nowhere") }},
		{"MovePrimary", func(ctx context.Context, c *cluster.Client) error {
			return c.MovePrimary(ctx, "", sampleNS.Database(), "shard-rs-1") // where it is
		}},
		{"MoveCollection", func(ctx context.Context, c *cluster.Client) error {
			return c.MoveCollection(ctx, "", sampleNS, "shard-rs-1") // refused: it is sharded
		}},
		{"UnshardCollection", func(ctx context.Context, c *cluster.Client) error {
			return c.UnshardCollection(ctx, "", sampleNS, "none") // refused: no such shard
		}},
		{"AbortMoveCollection", func(ctx context.Context, c *cluster.Client) error {
			return c.AbortMoveCollection(ctx, "", sampleNS) // refused: none is running
		}},
		{"AbortUnshardCollection", func(ctx context.Context, c *cluster.Client) error {
			return c.AbortUnshardCollection(ctx, "", sampleNS)
		}},
		{"AbortResharding", func(ctx context.Context, c *cluster.Client) error { return c.AbortResharding(ctx, "", sampleNS) }},
		{"SetMigrations", func(ctx context.Context, c *cluster.Client) error { return c.SetMigrations(ctx, "", sampleNS, true) }},
		{"SetChunkSize", func(ctx context.Context, c *cluster.Client) error { return c.SetChunkSize(ctx, "", sampleNS, 0) }},
		{"SetAutoMerge", func(ctx context.Context, c *cluster.Client) error { return c.SetAutoMerge(ctx, "", sampleNS, true) }},
		{"Defragment", func(ctx context.Context, c *cluster.Client) error { return c.Defragment(ctx, "", sampleNS, false) }},
		{"SetBalancing", func(ctx context.Context, c *cluster.Client) error { return c.SetBalancing(ctx, "", sampleNS, true) }},
		{"StartBalancer", func(ctx context.Context, c *cluster.Client) error { return c.StartBalancer(ctx, "") }},
		{"StopBalancer", func(ctx context.Context, c *cluster.Client) error { return c.StopBalancer(ctx, "") }},
		{"SetBalancerWindow", func(ctx context.Context, c *cluster.Client) error {
			return c.SetBalancerWindow(ctx, "", "01:00", "02:00", "")
		}},
		{"AddShardToZone", func(ctx context.Context, c *cluster.Client) error { return c.AddShardToZone(ctx, "", "nowhere", "z") }},
		{"RemoveShardFromZone", func(ctx context.Context, c *cluster.Client) error {
			return c.RemoveShardFromZone(ctx, "", "nowhere", "z")
		}},
		{"SetZoneRange", func(ctx context.Context, c *cluster.Client) error {
			return c.SetZoneRange(ctx, "", sampleNS, bound(1), bound(2), "z")
		}},
		{"RemoveZoneRange", func(ctx context.Context, c *cluster.Client) error {
			return c.RemoveZoneRange(ctx, "", sampleNS, bound(1), bound(2))
		}},
	}
}
