package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// AddShardToZone adds a shard to a zone.
func (c *Client) AddShardToZone(ctx context.Context, run, shard, zone string) error {
	return c.admin(ctx, run, bson.D{{Key: "addShardToZone", Value: shard}, {Key: "zone", Value: zone}},
		action{what: "add the shard to the zone", privilege: "update on config.shards"})
}

// RemoveShardFromZone removes a shard from a zone.
func (c *Client) RemoveShardFromZone(ctx context.Context, run, shard, zone string) error {
	return c.admin(ctx, run, bson.D{{Key: "removeShardFromZone", Value: shard}, {Key: "zone", Value: zone}},
		action{what: "remove the shard from the zone", privilege: "update on config.shards and find on config.tags"})
}

// SetZoneRange assigns a range to a zone.
func (c *Client) SetZoneRange(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw, zone string) error {
	return c.zoneRange(ctx, run, ns, min, max, zone, "set the zone range")
}

// RemoveZoneRange removes a range from its zone.
func (c *Client) RemoveZoneRange(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw) error {
	return c.zoneRange(ctx, run, ns, min, max, nil, "remove the zone range")
}

func (c *Client) zoneRange(ctx context.Context, run string, ns topology.Namespace, min, max bson.Raw, zone any, what string) error {
	cmd := bson.D{
		{Key: "updateZoneKeyRange", Value: ns},
		{Key: "min", Value: min}, {Key: "max", Value: max},
		{Key: "zone", Value: zone},
	}
	return c.admin(ctx, run, cmd, action{what: what, privilege: "find on config.shards, and find, update and remove on config.tags"})
}
