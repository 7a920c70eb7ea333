package cluster

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// headFields are the fields of a collection that the routing poll reads.
var headFields = []string{
	"_id", "uuid", "timestamp", "lastmodEpoch", "key", "unique", "noBalance", "allowMigrations", "permitMigrations",
	"unsplittable", "reshardingFields.uuid", "maxChunkSizeBytes", "timeseriesFields",
	"enableAutoMerge", "defragmentCollection", "defragmentationPhase", "top",
}

// headsPipeline reads collections with their highest chunk version: one index lookup
// (uuid and lastmod) per collection, independent of the number of chunks. Before 5.0,
// and until the upgrade to it is completed, chunks have a namespace and no index by
// uuid: legacy reads that format.
func headsPipeline(w topology.Window, legacy bool) bson.A {
	match := bson.D{{Key: "dropped", Value: bson.D{{Key: "$ne", Value: true}}}}
	var page bson.A
	switch {
	case len(w.Only) > 0:
		match = append(match, bson.E{Key: "_id", Value: bson.D{{Key: "$in", Value: w.Only}}})
	case w.Limit > 0:
		match = append(match, bson.E{Key: "_id", Value: bson.D{{Key: "$gt", Value: w.After}}})
		page = bson.A{
			bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: int32(1)}}}},
			bson.D{{Key: "$limit", Value: int64(w.Limit)}},
		}
	}
	local, foreign := "$uuid", "$uuid"
	if legacy {
		local, foreign = "$_id", "$ns"
	}
	lookup := bson.D{
		{Key: "from", Value: "chunks"},
		{Key: "let", Value: bson.D{{Key: "c", Value: local}}},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$match", Value: bson.D{{Key: "$expr", Value: bson.D{{Key: "$eq", Value: bson.A{foreign, "$$c"}}}}}}},
			bson.D{{Key: "$sort", Value: bson.D{{Key: "lastmod", Value: int32(-1)}}}},
			bson.D{{Key: "$limit", Value: int32(1)}},
			bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: int32(0)}, {Key: "lastmod", Value: int32(1)}}}},
		}},
		{Key: "as", Value: "top"},
	}
	pipeline := append(bson.A{bson.D{{Key: "$match", Value: match}}}, page...)
	return append(pipeline,
		bson.D{{Key: "$lookup", Value: lookup}},
		bson.D{{Key: "$project", Value: including(headFields...)}},
	)
}

// Heads is the routing poll: one command, or two while an upgrade from 4.4 to 5.0
// converts the collections.
func (c *Client) Heads(ctx context.Context, w topology.Window) ([]topology.Head, error) {
	legacy := c.legacy.Load()
	heads, err := c.heads(ctx, w, legacy)
	if !partial(err) {
		return nil, err
	}
	odd := 0
	for _, h := range heads {
		if h.LegacyChunks != legacy {
			odd++
		}
	}
	if odd == 0 {
		return heads, err
	}
	// A collection has the other format: read that too, and take each collection from the
	// matching answer.
	other, err := c.heads(ctx, w, !legacy)
	if !partial(err) {
		return nil, err
	}
	c.legacy.Store(legacy != (odd == len(heads)))
	byName := make(map[topology.Namespace]topology.Head, len(other))
	for _, h := range other {
		byName[h.NS] = h
	}
	for i, h := range heads {
		if o, ok := byName[h.NS]; ok && h.LegacyChunks != legacy {
			heads[i] = o
		}
	}
	return heads, err
}

func (c *Client) heads(ctx context.Context, w topology.Window, legacy bool) ([]topology.Head, error) {
	cmd := bson.D{
		{Key: "aggregate", Value: "collections"},
		{Key: "pipeline", Value: headsPipeline(w, legacy)},
		{Key: "cursor", Value: bson.D{{Key: "batchSize", Value: int32(10_000)}}},
		withMajority,
	}
	var heads []topology.Head
	skipped := skipping("config.collections")
	r := findOn("collections and config.chunks", "read the routing table")
	err := c.each(ctx, "config", cmd, r, func(doc bson.Raw) error {
		h, err := decodeHead(doc)
		if err != nil {
			skipped.add(err)
			return nil
		}
		heads = append(heads, h)
		return nil
	})
	if err != nil {
		return nil, err
	}
	topology.SortHeads(heads)
	return heads, skipped.err()
}

func decodeHead(doc bson.Raw) (h topology.Head, err error) {
	h.LegacyChunks = true
	w := walk(doc)
	var key bson.Raw
	for w.next() {
		switch string(w.key) {
		case "_id":
			ns, _ := w.str()
			h.NS = topology.Namespace(ns)
		case "uuid":
			h.Incarnation.UUID, _ = w.uuid()
		case "timestamp":
			var ok bool
			if h.Incarnation.Timestamp, ok = w.timestamp(); ok {
				h.LegacyChunks = false
			}
		case "lastmodEpoch":
			h.Incarnation.Epoch, _ = w.objectID()
		case "key":
			key, _ = w.doc()
		case "unique":
			h.Unique = w.truthy()
		case "noBalance":
			h.NoBalance = w.truthy()
		case "allowMigrations", "permitMigrations":
			if allowed, ok := w.boolean(); ok && !allowed {
				h.MigrationsBlocked = true
			}
		case "unsplittable":
			h.Unsplittable = w.truthy()
		case "reshardingFields":
			h.Resharding = true
		case "maxChunkSizeBytes":
			h.MaxChunkBytes, _ = w.number()
		case "enableAutoMerge":
			enabled, ok := w.boolean()
			h.AutoMergeOff = ok && !enabled
		case "defragmentCollection":
			h.Defragmenting = w.truthy()
		case "defragmentationPhase":
			h.Phase, _ = w.str()
		case "timeseriesFields":
			if fields, ok := w.doc(); ok {
				h.Series = decodeSeries(fields)
			}
		case "top":
			h.Highest = decodeTop(&w)
		}
	}
	if w.broken || h.NS == "" {
		return h, fault.New(fault.Internal, "a collection without a name")
	}
	if key == nil {
		return h, fault.New(fault.Internal, "%s has no shard key", quoted(string(h.NS)))
	}
	if h.Key, err = shardkey.ParsePattern(key); err != nil {
		return h, fmt.Errorf("shard key of %s: %w", quoted(string(h.NS)), err)
	}
	h.Temporary = topology.IsTemporary(h.NS)
	return h, nil
}

func decodeSeries(doc bson.Raw) (s topology.Series) {
	s.TimeField, _ = doc.Lookup("timeField").StringValueOK()
	s.MetaField, _ = doc.Lookup("metaField").StringValueOK()
	s.Granularity, _ = doc.Lookup("granularity").StringValueOK()
	if n, ok := topology.Amount(doc.Lookup("bucketMaxSpanSeconds")); ok && n > 0 {
		s.MaxSpan = n
	}
	return s
}

// decodeTop decodes the version in [{lastmod: …}]; zero for an empty array.
func decodeTop(w *elements) (v topology.Version) {
	list, ok := w.array()
	if !ok || !list.next() {
		return v
	}
	top, ok := list.doc()
	if !ok {
		return v
	}
	t := walk(top)
	for t.next() {
		if string(t.key) == "lastmod" {
			if ts, ok := t.timestamp(); ok {
				v = topology.VersionOf(ts)
			}
		}
	}
	return v
}
