package cluster

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// chunkFields are the projected fields of a chunk. The _id is not read: it does not
// identify a chunk.
var chunkFields = fields("min", "max", "shard", "lastmod", "jumbo", "history", "onCurrentShardSince")

// chunkBatch is the batch size in chunks; the server ends a batch at 16 MB anyway.
const chunkBatch = 20_000

// chunksOf is the indexed filter for a collection's chunks.
func chunksOf(m topology.Meta) bson.D {
	if m.LegacyChunks {
		return bson.D{{Key: "ns", Value: bson.D{{Key: "$eq", Value: string(m.NS)}}}}
	}
	return bson.D{{Key: "uuid", Value: bson.Binary{Subtype: bson.TypeBinaryUUID, Data: m.Incarnation.UUID[:]}}}
}

// AllChunks reads a collection's chunks in key order, using the index on collection and
// min. Decoding goes on while the next batch is read. Rows that are no chunks of the collection are left out; they are
// in a topology.OddChunksError.
func (c *Client) AllChunks(ctx context.Context, m topology.Meta, each func(*topology.ChunkRow) error) error {
	d := c.decoder(ctx, m)
	var row topology.ChunkRow
	var odd topology.OddChunksError
	cmd, r := allChunks(m)
	err := c.eachAhead(ctx, "config", cmd, r, func(doc bson.Raw) error {
		if err := d.decode(doc, &row); err != nil {
			f, _ := d.fields(doc)
			odd.Add(topology.OddChunk{Min: f.lower, Max: f.upper, Shard: f.shard}, err)
			d.upper = nil // what the row holds is not that bound
			return nil
		}
		return each(&row)
	})
	if err == nil && odd.Count > 0 {
		return &odd
	}
	return err
}

func allChunks(m topology.Meta) (bson.D, readOp) {
	r := findOn("chunks", "read the chunks")
	r.batch = chunkBatch
	return find("chunks", chunksOf(m), chunkFields, bson.E{Key: "sort", Value: bson.D{{Key: "min", Value: int32(1)}}},
		bson.E{Key: "batchSize", Value: int32(chunkBatch)}, withMajority), r
}

// DrainChunks reads what AllChunks reads and throws it away: the least that a load can
// take, which benchmarks compare it with.
func (c *Client) DrainChunks(ctx context.Context, m topology.Meta) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	cmd, r := allChunks(m)
	return c.each(ctx, "config", cmd, r, func(bson.Raw) error { return nil })
}

// DrainMetadata reads the chunks and the names of all collections, as a first table does, and throws them away: the
// least that a start can take.
func (c *Client) DrainMetadata(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	heads, err := c.Heads(ctx, topology.Window{})
	if err != nil {
		return err
	}
	for _, h := range heads {
		if err := c.DrainChunks(ctx, h.Meta); err != nil {
			return err
		}
	}
	all, err := c.Databases(ctx)
	if err != nil {
		return err
	}
	for _, db := range all {
		names := bson.D{{Key: "listCollections", Value: 1}, {Key: "nameOnly", Value: true}, {Key: "cursor", Value: bson.D{}}}
		if err := c.each(ctx, db.Name, names, readOp{what: "list the collections"},
			func(bson.Raw) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// Chunks reads a collection's chunks from a version on, in version order, using the
// index on collection and lastmod.
func (c *Client) Chunks(ctx context.Context, m topology.Meta, since topology.Version, each func(topology.Chunk) error) error {
	filter := append(chunksOf(m), bson.E{Key: "lastmod", Value: bson.D{{Key: "$gte", Value: since.Timestamp()}}})
	cmd := find("chunks", filter, chunkFields, bson.E{Key: "sort", Value: bson.D{{Key: "lastmod", Value: int32(1)}}},
		bson.E{Key: "batchSize", Value: int32(chunkBatch)}, withMajority)
	return c.chunks(ctx, cmd, m, each)
}

// CountChunks counts a collection's chunks, by an index alone.
func (c *Client) CountChunks(ctx context.Context, m topology.Meta) (int64, error) {
	return c.count(ctx, "config.chunks", bson.D{withMajority}, bson.D{{Key: "$match", Value: chunksOf(m)}})
}

// ChunksFrom reads at most limit chunks in key order.
func (c *Client) ChunksFrom(ctx context.Context, m topology.Meta, from shardkey.Key, limit int, each func(topology.Chunk) error) error {
	lower, err := m.Key.Document(from)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "A shard key of %s cannot be written as a document.", m.NS)
	}
	filter := append(chunksOf(m), bson.E{Key: "min", Value: bson.D{{Key: "$gte", Value: lower}}})
	cmd := find("chunks", filter, append(singleBatch(limit), chunkFields,
		bson.E{Key: "sort", Value: bson.D{{Key: "min", Value: int32(1)}}}, withMajority)...)
	return c.chunks(ctx, cmd, m, each)
}

// ChunksAt reads the chunks with these lower bounds.
func (c *Client) ChunksAt(ctx context.Context, m topology.Meta, at []shardkey.Key, each func(topology.Chunk) error) error {
	lower := make([]bson.Raw, len(at))
	for i := range at {
		var err error
		if lower[i], err = m.Key.Document(at[i]); err != nil {
			return fault.Wrap(fault.Internal, err, "A shard key of %s cannot be written as a document.", m.NS)
		}
	}
	filter := append(chunksOf(m), bson.E{Key: "min", Value: bson.D{{Key: "$in", Value: lower}}})
	return c.chunks(ctx, find("chunks", filter, append(singleBatch(len(at)), chunkFields, withMajority)...), m, each)
}

func (c *Client) chunks(ctx context.Context, cmd bson.D, m topology.Meta, each func(topology.Chunk) error) error {
	d := c.decoder(ctx, m)
	r := findOn("chunks", "read the chunks")
	r.batch = chunkBatch
	var row topology.ChunkRow
	return c.each(ctx, "config", cmd, r, func(doc bson.Raw) error {
		if err := d.decode(doc, &row); err != nil {
			return misfit(m, err)
		}
		return each(row.Chunk())
	})
}

// misfit is the error for a chunk that cannot be decoded. Most likely the collection is
// being refined or resharded, and the bounds belong to another key. The caller reads again.
func misfit(m topology.Meta, err error) error {
	return fault.Wrap(fault.Conflict, errors.Join(topology.ErrTorn, err), "A chunk of %s does not fit its shard key.", m.NS)
}
