package cluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// statsFields keep the reply small: storageStats alone is hundreds of kilobytes per
// shard.
var statsFields = fields("_id", "shard",
	"storageStats.size", "storageStats.count", "storageStats.avgObjSize", "storageStats.storageSize",
	"storageStats.totalIndexSize", "storageStats.numOrphanDocs",
	"storageStats.timeseries.bucketCount", "storageStats.timeseries.avgBucketSize")

// Sizes reads $collStats of one collection: one document per shard. Counts and bytes
// include orphans, whose number is known from 6.0 on.
func (c *Client) Sizes(ctx context.Context, ns topology.Namespace) (topology.Sizes, error) {
	s := topology.Sizes{NS: ns, Shards: map[string]topology.Size{}, At: time.Now()}
	cmd := bson.D{
		{Key: "aggregate", Value: ns.Collection()},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$collStats", Value: bson.D{{Key: "storageStats", Value: bson.D{}}}}},
			bson.D{{Key: "$project", Value: statsFields.Value}},
		}},
		{Key: "cursor", Value: bson.D{}},
	}
	r := readOp{what: "read sizes", privilege: "collStats on " + string(ns)}
	err := c.each(ctx, ns.Database(), cmd, r, func(doc bson.Raw) error {
		shard, _ := doc.Lookup("shard").StringValueOK()
		stats, ok := doc.Lookup("storageStats").DocumentOK()
		if shard != "" && ok {
			s.Shards[shard] = decodeStats(stats, s.At)
			s.Buckets = s.Buckets || stats.Lookup("timeseries").Type == bson.TypeEmbeddedDocument
		}
		return nil
	})
	if err != nil {
		return topology.Sizes{}, err
	}
	return s, nil
}

func decodeStats(doc bson.Raw, at time.Time) topology.Size {
	figure := func(v int64) topology.Figure {
		return topology.Figure{Known: true, Value: v, Method: "collStats", At: at}
	}
	unknown := topology.Figure{Reason: "notReported", At: at}
	s := topology.Size{Bytes: unknown, Documents: unknown, Orphans: unknown, Storage: unknown, Indexes: unknown}
	var average int64
	w := walk(doc)
	for w.next() {
		n, isNumber := w.number()
		switch string(w.key) {
		case "size":
			s.Bytes = figure(n)
		case "count":
			s.Documents = figure(n)
		case "avgObjSize":
			average = n
		case "storageSize":
			s.Storage = figure(n)
		case "totalIndexSize":
			s.Indexes = figure(n)
		case "numOrphanDocs":
			s.Orphans = figure(n)
		case "timeseries":
			// Time series collections count buckets, not measurements.
			series, _ := w.doc()
			if n, ok := series.Lookup("bucketCount").AsInt64OK(); ok && !s.Documents.Known {
				s.Documents = figure(n)
			}
			continue
		default:
			continue
		}
		if !isNumber {
			return topology.Size{Bytes: unknown, Documents: unknown, Orphans: unknown, Storage: unknown, Indexes: unknown}
		}
	}
	s.Storage.Exact, s.Indexes.Exact = s.Storage.Known, s.Indexes.Known
	if s.Orphans.Known {
		s.Bytes.Method, s.Documents.Method = "collStatsOwned", "collStatsOwned"
		// Subtract the orphans. If their number is unknown, the figures stay marked as not
		// exact.
		s.Bytes.Value = max(s.Bytes.Value-s.Orphans.Value*average, 0)
		s.Documents.Value = max(s.Documents.Value-s.Orphans.Value, 0)
		s.Documents.Exact, s.Bytes.Exact = true, s.Orphans.Value == 0
	}
	return s
}

// AllSizes asks for $shardedDataDistribution, which 6.0.3 and later have. On older
// releases it sends nothing.
func (c *Client) AllSizes(ctx context.Context) ([]topology.Sizes, error) {
	release, err := c.release(ctx)
	if err != nil {
		return nil, err
	}
	if !release.atLeast(6, 0, 3) {
		return nil, fault.New(fault.NotFound, "The server is too old for $shardedDataDistribution.")
	}
	now := time.Now()
	cmd := bson.D{
		{Key: "aggregate", Value: 1},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$shardedDataDistribution", Value: bson.D{}}}}},
		{Key: "cursor", Value: bson.D{}},
	}
	var out []topology.Sizes
	r := readOp{what: "read sizes", privilege: "shardedDataDistribution on the cluster"}
	err = c.each(ctx, "admin", cmd, r, func(doc bson.Raw) error {
		s := topology.Sizes{Shards: map[string]topology.Size{}, At: now, Sharded: true}
		w := walk(doc)
		for w.next() {
			switch string(w.key) {
			case "ns":
				ns, _ := w.str()
				s.NS = topology.Namespace(ns)
			case "shards":
				list, _ := w.array()
				for list.next() {
					if one, ok := list.doc(); ok {
						name, size := decodeOwned(one, now)
						s.Shards[name] = size
					}
				}
			}
		}
		if s.NS != "" {
			out = append(out, s)
		}
		return nil
	})
	return out, err
}

func decodeOwned(doc bson.Raw, at time.Time) (shard string, s topology.Size) {
	unknown := topology.Figure{Reason: "notReported", At: at}
	s = topology.Size{Bytes: unknown, Documents: unknown, Orphans: unknown, Storage: unknown, Indexes: unknown}
	w := walk(doc)
	for w.next() {
		n, ok := w.number()
		f := topology.Figure{Known: ok, Value: n, Exact: true, Method: "shardedDataDistribution", At: at}
		switch string(w.key) {
		case "shardName":
			shard, _ = w.str()
		case "numOwnedDocuments":
			s.Documents = f
		case "ownedSizeBytes":
			s.Bytes = f
		case "numOrphanedDocs":
			s.Orphans = f
		}
	}
	return shard, s
}
