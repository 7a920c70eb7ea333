package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

var (
	_ operation.Reader  = (*Client)(nil)
	_ operation.Counter = (*Client)(nil)
)

// ReadFact reads the current state of a fact with at most three finds in config, as the
// fields of actions.Fields.
func (c *Client) ReadFact(ctx context.Context, f operation.Fact) (map[string]string, error) {
	ctx, cancel := c.bounded(withOwnWrites(ctx))
	defer cancel()
	t := &topology.Table{}
	var err error
	switch f.Kind {
	case operation.FactShard, operation.FactShardZone:
		if t.Shards, err = c.Shards(ctx); !partial(err) {
			return nil, err
		}
		return operation.Fields(t, f), nil
	case operation.FactRemains:
		return c.remainsFact(ctx, f)
	case operation.FactSpare:
		if t.Shards, err = c.Shards(ctx); !partial(err) {
			return nil, err
		}
		if t.Zones, err = c.Zones(ctx); !partial(err) {
			return nil, err
		}
		return operation.Fields(t, f), nil
	case operation.FactBalancer:
		if t.Balancer, err = c.Settings(ctx); err != nil {
			return nil, err
		}
		return operation.Fields(t, f), nil
	case operation.FactDatabase, operation.FactPlace:
		return c.placeFact(ctx, f)
	case operation.FactZoneRange:
		if t.Zones, err = c.zonesOf(ctx, f.NS); !partial(err) {
			return nil, err
		}
		return operation.Fields(t, f), nil
	}
	if f.Kind == operation.FactResharding {
		return c.reshardingFact(ctx, f)
	}
	m, err := c.meta(ctx, f.NS)
	if err != nil || m == nil {
		return map[string]string{}, err
	}
	of := &topology.Collection{Meta: *m}
	t.Collections = []*topology.Collection{of}
	switch f.Kind {
	case operation.FactCollection, operation.FactResharded:
		return operation.Fields(t, f), nil
	case operation.FactZoneFree:
		zones, err := c.zonesOf(ctx, f.NS)
		if !partial(err) {
			return nil, err
		}
		t.Zones = topology.CompleteZones(zones, of)
		return operation.Fields(t, f), nil
	case operation.FactChunk:
		return c.chunkFact(ctx, *m, f)
	case operation.FactEdge:
		there, err := c.chunkAt(ctx, *m, f.Min)
		return map[string]string{"exists": strconv.FormatBool(there != nil)}, err
	case operation.FactCover, operation.FactHeld:
		return c.rangeFact(ctx, *m, f)
	}
	return nil, fault.New(fault.Internal, "There is no fact called %q.", string(f.Kind))
}

// meta reads one collection; nil when it is not sharded.
func (c *Client) meta(ctx context.Context, ns topology.Namespace) (m *topology.Meta, err error) {
	filter := bson.D{
		{Key: "_id", Value: bson.D{{Key: "$eq", Value: string(ns)}}},
		{Key: "dropped", Value: bson.D{{Key: "$ne", Value: true}}},
	}
	names := slices.DeleteFunc(slices.Clone(headFields), func(s string) bool { return s == "top" })
	cmd := find("collections", filter, append(singleBatch(1), fields(names...), withMajority)...)
	err = c.each(ctx, "config", cmd, findOn("collections", "read the collection"), func(doc bson.Raw) error {
		h, err := decodeHead(slices.Clone(doc))
		if err != nil {
			return fault.Wrap(fault.Internal, err, "The description of %s is not understood.", ns)
		}
		m = &h.Meta
		return nil
	})
	return m, err
}

func (c *Client) zonesOf(ctx context.Context, ns topology.Namespace) ([]topology.ZoneRange, error) {
	return c.zones(ctx, bson.D{{Key: "ns", Value: bson.D{{Key: "$eq", Value: string(ns)}}}})
}

// chunkAt is the chunk with this lower bound, or nil.
func (c *Client) chunkAt(ctx context.Context, m topology.Meta, at bson.Raw) (found *topology.Chunk, err error) {
	filter := append(chunksOf(m), bson.E{Key: "min", Value: bson.D{{Key: "$eq", Value: at}}})
	cmd := find("chunks", filter, append(singleBatch(1), chunkFields, withMajority)...)
	err = c.chunks(ctx, cmd, m, func(ch topology.Chunk) error { found = &ch; return nil })
	return found, err
}

func (c *Client) chunkFact(ctx context.Context, m topology.Meta, f operation.Fact) (map[string]string, error) {
	hi, err := m.Key.Bound(f.Max)
	if err != nil {
		return map[string]string{}, nil // the bounds no longer fit the shard key
	}
	ch, err := c.chunkAt(ctx, m, f.Min)
	if err != nil {
		return nil, err
	}
	if ch == nil || ch.Max.Compare(hi) != 0 {
		return map[string]string{"exists": "false"}, nil
	}
	return map[string]string{
		"exists": "true", "shard": ch.Shard, "lastmod": ch.Version.String(), "jumbo": strconv.FormatBool(ch.Jumbo),
	}, nil
}

// ChunksFromNow returns at most limit chunks in key order, from the first one that
// begins at or after a key. It sees the effect of our newest command.
func (c *Client) ChunksFromNow(ctx context.Context, m topology.Meta, from shardkey.Key, limit int) (rows []topology.Chunk, err error) {
	ctx, cancel := c.bounded(withOwnWrites(ctx))
	defer cancel()
	err = c.ChunksFrom(ctx, m, from, limit, func(ch topology.Chunk) error { rows = append(rows, ch); return nil })
	return rows, err
}

// rangeFact reads the chunks that overlap a range.
func (c *Client) rangeFact(ctx context.Context, m topology.Meta, f operation.Fact) (map[string]string, error) {
	lo, errLo := m.Key.Bound(f.Min)
	hi, errHi := m.Key.Bound(f.Max)
	if errLo != nil || errHi != nil {
		return map[string]string{}, nil
	}
	all, here, edges := 0, 0, true
	shards := map[string]bool{}
	var end topology.Chunk
	err := c.chunksOverlapping(ctx, m, f.Min, f.Max, func(ch topology.Chunk) error {
		if ch.Max.Compare(lo) <= 0 {
			return nil
		}
		if all == 0 {
			edges = ch.Min.Compare(lo) == 0
		} else if end.Max.Compare(ch.Min) != 0 {
			return fault.Wrap(fault.Conflict, topology.ErrTorn, "The chunks of %s changed while they were read.", m.NS)
		}
		all, end = all+1, ch
		shards[ch.Shard] = true
		if ch.Shard == f.Shard {
			here++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.Kind == operation.FactHeld {
		return map[string]string{"chunks": strconv.Itoa(here)}, nil
	}
	names := make([]string, 0, len(shards))
	for s := range shards {
		names = append(names, s)
	}
	natural.Sort(names)
	return map[string]string{
		"shards": strings.Join(names, ","), "chunks": strconv.Itoa(all),
		"edges": strconv.FormatBool(all > 0 && edges && end.Max.Compare(hi) == 0),
	}, nil
}

// chunksOverlapping reads the chunk that begins at or before a range and those that
// begin inside of it, in key order, with two finds on the index of min.
func (c *Client) chunksOverlapping(ctx context.Context, m topology.Meta, lo, hi bson.Raw, each func(topology.Chunk) error) error {
	part := func(min bson.D, order int32, more ...bson.E) error {
		filter := append(chunksOf(m), bson.E{Key: "min", Value: min})
		more = append(more, chunkFields, bson.E{Key: "sort", Value: bson.D{{Key: "min", Value: order}}}, withMajority)
		return c.chunks(ctx, find("chunks", filter, more...), m, each)
	}
	if err := part(bson.D{{Key: "$lte", Value: lo}}, -1, singleBatch(1)...); err != nil {
		return fmt.Errorf("read the first chunk: %w", err)
	}
	return part(bson.D{{Key: "$gt", Value: lo}, {Key: "$lt", Value: hi}}, 1)
}
