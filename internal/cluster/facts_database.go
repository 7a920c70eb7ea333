package cluster

import (
	"context"

	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

// placeFact reads the facts of databases, and of collections that may be unsharded.
func (c *Client) placeFact(ctx context.Context, f operation.Fact) (map[string]string, error) {
	t := &topology.Table{}
	name := f.DB
	if f.Kind == operation.FactPlace {
		m, err := c.meta(ctx, f.NS)
		if err != nil {
			return nil, err
		}
		if m != nil {
			return c.trackedFact(ctx, t, *m, f)
		}
		name = f.NS.Database()
		if t.Unsharded, err = c.Collections(ctx, name); err != nil {
			return nil, err
		}
	}
	d, err := c.database(ctx, name)
	if err != nil {
		return nil, err
	}
	if d != nil {
		t.Databases = []topology.Database{*d}
	}
	return operation.Fields(t, f), nil
}

// trackedFact is the place of a collection with a row in config.collections. If it is
// not sharded, its only chunk says where it is.
func (c *Client) trackedFact(ctx context.Context, t *topology.Table, m topology.Meta, f operation.Fact) (map[string]string, error) {
	of := &topology.Collection{Meta: m}
	t.Collections = []*topology.Collection{of}
	got := operation.Fields(t, f)
	if !m.Unsplittable {
		return got, nil
	}
	cmd := find("chunks", chunksOf(m), append(singleBatch(1), chunkFields, withMajority)...)
	err := c.chunks(ctx, cmd, m, func(ch topology.Chunk) error { got["shard"] = ch.Shard; return nil })
	return got, err
}
