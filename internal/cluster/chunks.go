package cluster

import (
	"context"
	"errors"

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

// Chunks reads a collection's chunks from a version on, in version order, using the
// index on collection and lastmod.
func (c *Client) Chunks(ctx context.Context, m topology.Meta, since topology.Version, each func(topology.Chunk) error) error {
	filter := chunksOf(m)
	if !since.IsZero() {
		filter = append(filter, bson.E{Key: "lastmod", Value: bson.D{{Key: "$gte", Value: since.Timestamp()}}})
	}
	cmd := find("chunks", filter, chunkFields, bson.E{Key: "sort", Value: bson.D{{Key: "lastmod", Value: int32(1)}}},
		bson.E{Key: "batchSize", Value: int32(chunkBatch)}, withMajority)
	return c.chunks(ctx, cmd, m, each)
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

func (c *Client) chunks(ctx context.Context, cmd bson.D, m topology.Meta, each func(topology.Chunk) error) error {
	d := chunkDecoder{pattern: m.Key, names: make(map[string]string, 8), resolve: func(id [16]byte) string { return c.shardByID(ctx, id) }}
	r := findOn("chunks", "read the chunks")
	r.batch = chunkBatch
	return c.each(ctx, "config", cmd, r, func(doc bson.Raw) error {
		chunk, err := d.decode(doc)
		if err != nil {
			// Most likely the collection is being refined or resharded, and the bounds belong to
			// another key. The caller reads again.
			return fault.Wrap(fault.Conflict, errors.Join(topology.ErrTorn, err), "A chunk of %s does not fit its shard key.", m.NS)
		}
		return each(chunk)
	})
}

// chunkDecoder decodes chunk documents of one collection.
type chunkDecoder struct {
	pattern shardkey.Pattern
	names   map[string]string          // interned shard names
	resolve func(uuid [16]byte) string // name of a shard by its uuid
}

func (d *chunkDecoder) decode(doc bson.Raw) (c topology.Chunk, err error) {
	w := walk(doc)
	var lower, upper bson.Raw
	for w.next() {
		switch string(w.key) {
		case "min":
			lower, _ = w.doc()
		case "max":
			upper, _ = w.doc()
		case "shard":
			c.Shard = d.shard(&w)
		case "lastmod":
			ts, _ := w.timestamp()
			c.Version = topology.VersionOf(ts)
		case "jumbo":
			c.Jumbo = w.truthy()
		case "history":
			if since := newestHistory(&w); since != (bson.Timestamp{}) {
				c.Since = since
			}
		case "onCurrentShardSince":
			if since, ok := w.timestamp(); ok && c.Since == (bson.Timestamp{}) {
				c.Since = since
			}
		}
	}
	switch {
	case w.broken:
		return c, errors.New("damaged document")
	case lower == nil || upper == nil || c.Shard == "" || c.Version.IsZero():
		return c, errors.New("min, max, shard or lastmod is missing")
	}
	if c.Min, err = d.pattern.Bound(lower); err != nil {
		return c, err
	}
	c.Max, err = d.pattern.Bound(upper)
	return c, err
}

// shard decodes a chunk's owner: a name, or on newer servers possibly a uuid.
func (d *chunkDecoder) shard(w *elements) string {
	if b, ok := w.strBytes(); ok {
		if name, ok := d.names[string(b)]; ok {
			return name
		}
		name := string(b)
		d.names[name] = name
		return name
	}
	if id, ok := w.uuid(); ok {
		return d.resolve(id)
	}
	return ""
}

// newestHistory is history[0].validAfter, the time since which the owner has the chunk.
func newestHistory(w *elements) bson.Timestamp {
	list, ok := w.array()
	if !ok || !list.next() {
		return bson.Timestamp{}
	}
	first, ok := list.doc()
	if !ok {
		return bson.Timestamp{}
	}
	e := walk(first)
	for e.next() {
		if string(e.key) == "validAfter" {
			ts, _ := e.timestamp()
			return ts
		}
	}
	return bson.Timestamp{}
}
