package cluster

import (
	"bytes"
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// chunkDecoder decodes chunk documents of one collection.
type chunkDecoder struct {
	pattern shardkey.Pattern
	names   map[string]string          // interned shard names
	last    string                     // the shard of the last chunk
	resolve func(uuid [16]byte) string // name of a shard by its uuid
	upper   bson.Raw                   // max of the last row
}

func (c *Client) decoder(ctx context.Context, m topology.Meta) *chunkDecoder {
	return &chunkDecoder{pattern: m.Key, names: make(map[string]string, 8),
		resolve: func(id [16]byte) string { return c.shardByID(ctx, id) }}
}

// decode decodes a chunk into a row whose memory is used again. In key order a chunk
// begins where the last one ends, so most lower bounds are known already.
func (d *chunkDecoder) decode(doc bson.Raw, row *topology.ChunkRow) error {
	f, err := d.fields(doc)
	if err != nil {
		return err
	}
	row.Shard, row.Version, row.Since, row.Jumbo = f.shard, f.version, f.since, f.jumbo
	if d.upper != nil && bytes.Equal(f.lower, d.upper) {
		row.Min, row.Max = row.Max, row.Min
	} else if row.Min.Encoded, row.Min.Bits, err = d.pattern.AppendBound(row.Min.Encoded[:0], row.Min.Bits[:0], f.lower); err != nil {
		return err
	}
	row.Max.Encoded, row.Max.Bits, err = d.pattern.AppendBound(row.Max.Encoded[:0], row.Max.Bits[:0], f.upper)
	d.upper = append(d.upper[:0], f.upper...)
	return err
}

// chunkParts are the fields of a chunk document; the bounds alias it.
type chunkParts struct {
	lower, upper bson.Raw
	shard        string
	version      topology.Version
	since        bson.Timestamp
	jumbo        bool
}

func (d *chunkDecoder) fields(doc bson.Raw) (c chunkParts, err error) {
	w := walk(doc)
	for w.next() {
		switch string(w.key) {
		case "min":
			c.lower, _ = w.doc()
		case "max":
			c.upper, _ = w.doc()
		case "shard":
			c.shard = d.shard(&w)
		case "lastmod":
			ts, _ := w.timestamp()
			c.version = topology.VersionOf(ts)
		case "jumbo":
			c.jumbo = w.truthy()
		case "history":
			if since := newestHistory(&w); since != (bson.Timestamp{}) {
				c.since = since
			}
		case "onCurrentShardSince":
			if since, ok := w.timestamp(); ok && c.since == (bson.Timestamp{}) {
				c.since = since
			}
		}
	}
	switch {
	case w.broken:
		return c, errors.New("damaged document")
	case c.lower == nil || c.upper == nil || c.shard == "" || c.version.IsZero():
		return c, errors.New("min, max, shard or lastmod is missing")
	}
	return c, nil
}

// shard decodes a chunk's owner: a name, or on newer servers possibly a uuid.
func (d *chunkDecoder) shard(w *elements) string {
	if b, ok := w.strBytes(); ok {
		if string(b) == d.last {
			return d.last
		}
		name, ok := d.names[string(b)]
		if !ok {
			name = string(b)
			d.names[name] = name
		}
		d.last = name
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
