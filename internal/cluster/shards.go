package cluster

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// shardNames maps uuids to shard names.
type shardNames map[[16]byte]string

// Shards reads config.shards.
func (c *Client) Shards(ctx context.Context) ([]topology.Shard, error) {
	var shards []topology.Shard
	ids := shardNames{}
	skipped := skipping("config.shards")
	cmd := find("shards", bson.D{}, withMajority)
	err := c.each(ctx, "config", cmd, findOn("shards", "read the shards"), func(doc bson.Raw) error {
		s, id, err := decodeShard(doc)
		if err != nil {
			skipped.add(err)
			return nil
		}
		if id != ([16]byte{}) {
			ids[id] = s.Name
		}
		shards = append(shards, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.ids.Store(&ids)
	slices.SortFunc(shards, func(a, b topology.Shard) int { return natural.Compare(a.Name, b.Name) })
	return shards, skipped.err()
}

func decodeShard(doc bson.Raw) (s topology.Shard, id [16]byte, err error) {
	w := walk(doc)
	for w.next() {
		switch string(w.key) {
		case "_id":
			s.Name, _ = w.str()
		case "host":
			host, _ := w.str()
			set, members, found := strings.Cut(host, "/")
			if !found {
				set, members = "", host
			}
			s.ReplSet, s.Hosts = set, strings.Split(members, ",")
		case "draining":
			s.Draining = w.truthy()
		case "tags":
			list, _ := w.array()
			for list.next() {
				if zone, ok := list.str(); ok {
					s.Zones = append(s.Zones, zone)
				}
			}
			natural.Sort(s.Zones)
		case "uuid":
			id, _ = w.uuid()
		}
	}
	if w.broken || s.Name == "" {
		return s, id, errors.New("a shard without a name")
	}
	return s, id, nil
}

// shardByID returns the name of a shard by uuid, reading config.shards once if needed.
// An unknown shard gets its uuid as name, so that its chunks are not lost.
func (c *Client) shardByID(ctx context.Context, id [16]byte) string {
	if ids := c.ids.Load(); ids != nil {
		if name, ok := (*ids)[id]; ok {
			return name
		}
	} else if _, err := c.Shards(ctx); partial(err) {
		return c.shardByID(ctx, id)
	}
	return "uuid:" + hex.EncodeToString(id[:])
}
