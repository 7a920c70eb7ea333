package cluster_test

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/change"
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
			_, err := c.DocumentsByKey(ctx, "yorkie-meta", profile.Yorkie().Keys, placement.ObjectIDValue(id), "k", 5)
			return err
		}},
		{"DocumentsByKeyIn", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.DocumentsByKeyIn(ctx, "yorkie-meta", profile.Yorkie().Keys, []bson.RawValue{placement.ObjectIDValue(id)}, []string{"k"}, 5)
			return err
		}},
		{"DocumentsOf", func(ctx context.Context, c *cluster.Client) error {
			_, err := c.DocumentsOf(ctx, "yorkie-meta", profile.Yorkie().Keys, placement.ObjectIDValue(id), placement.DocumentPage{Limit: 5})
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

// changes has a step of every operation. Their arguments do not exist, so that an allowed command has no effect.
func changes() (out []attempt) {
	bound := func(n int) bson.Raw {
		raw, _ := bson.Marshal(bson.D{{Key: "project_id", Value: bson.ObjectID{11: byte(n)}}})
		return raw
	}
	for _, s := range []actions.Step{
		{Op: actions.OpSplitAt, At: bound(1)},
		{Op: actions.OpSplitMedian, Min: bound(1), Max: bound(2)},
		{Op: actions.OpMerge, Min: bound(1), Max: bound(2)},
		{Op: actions.OpRefineKey, Key: keyOf(int32(1))},
		{Op: actions.OpClearJumbo, Min: bound(1), Max: bound(2)},
		{Op: actions.OpMove, Min: bound(1), Max: bound(2), Shard: "nowhere"},
		{Op: actions.OpMoveRange, Min: bound(1), Max: bound(2), Shard: "nowhere"},
		{Op: actions.OpReshard, Reshard: &actions.Reshard{Key: bound(2)}}, // refused: a key has 1 or "hashed"
		{Op: actions.OpReshardCommit},
		{Op: actions.OpBeginRemoval, Shard: "nowhere"},
		{Op: actions.OpStartDraining, Shard: "nowhere"},
		{Op: actions.OpStopDraining, Shard: "nowhere"},
		{Op: actions.OpRemoveShard, Shard: "nowhere"},
		{Op: actions.OpBeginDedicated, Shard: "config"}, // refused: it is no shard
		{Op: actions.OpDedicate, Shard: "config"},
		{Op: actions.OpMovePrimary, DB: sampleNS.Database(), Shard: "shard-rs-1"}, // where it is
		{Op: actions.OpMoveCollection, Shard: "shard-rs-1"},                       // refused: it is sharded
		{Op: actions.OpUnshard, Shard: "none"},                                    // refused: no such shard
		{Op: actions.OpAbortMove},                                                 // refused: none is running
		{Op: actions.OpAbortUnshard},
		{Op: actions.OpReshardAbort},
		{Op: actions.OpMigrations, On: true},
		{Op: actions.OpChunkSize},
		{Op: actions.OpAutoMerge, On: true},
		{Op: actions.OpDefragment},
		{Op: actions.OpBalancing, On: true},
		{Op: actions.OpBalancerOn},
		{Op: actions.OpBalancerOff},
		{Op: actions.OpBalancerWindow, Start: "01:00", Stop: "02:00"},
		{Op: actions.OpAddZone, Shard: "nowhere", Zone: "z"},
		{Op: actions.OpRemoveZone, Shard: "nowhere", Zone: "z"},
		{Op: actions.OpSetRange, Min: bound(1), Max: bound(2), Zone: "z"},
		{Op: actions.OpRemoveRange, Min: bound(1), Max: bound(2)},
	} {
		if s.DB == "" {
			s.NS = sampleNS
		}
		out = append(out, attempt{string(s.Op), func(ctx context.Context, c *cluster.Client) error { return change.Send(ctx, c, "", s) }})
	}
	return out
}
