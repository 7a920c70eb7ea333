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

// decodeStats reads storageStats of one shard. A number that cannot be one makes that figure unknown, and no other.
func decodeStats(doc bson.Raw, at time.Time) topology.Size {
	unknown := topology.Figure{Reason: "notReported", At: at}
	s := topology.Size{Bytes: unknown, Documents: unknown, Orphans: unknown, Storage: unknown, Indexes: unknown}
	average, averageKnown := int64(0), true
	w := walk(doc)
	for w.next() {
		f := figure(w.value(), "collStats", at)
		switch string(w.key) {
		case "size":
			s.Bytes = f
		case "count":
			s.Documents = f
		case "avgObjSize":
			average, averageKnown = f.Value, f.Known
		case "storageSize":
			s.Storage = f
		case "totalIndexSize":
			s.Indexes = f
		case "numOrphanDocs":
			s.Orphans = f
		case "timeseries":
			// Time series collections count buckets, not measurements.
			series, _ := w.doc()
			if f := figure(series.Lookup("bucketCount"), "collStats", at); !s.Documents.Known && f.Reason != unknown.Reason {
				s.Documents = f
			}
		}
	}
	s.Storage.Exact, s.Indexes.Exact = s.Storage.Known, s.Indexes.Known
	if s.Orphans.Known {
		// Subtract the orphans. If their number is unknown, the figures stay marked as not
		// exact.
		s.Documents = without(s.Documents, s.Orphans.Value, 1)
		switch orphans := s.Orphans.Value; {
		case averageKnown || orphans == 0:
			s.Bytes = without(s.Bytes, orphans, average)
			s.Bytes.Exact = s.Bytes.Known && orphans == 0
		default:
			s.Bytes = topology.Figure{Reason: "outOfRange", At: at}
		}
	}
	return s
}

// without subtracts n things of a size each; less than nothing is none, and not exact.
func without(f topology.Figure, n, each int64) topology.Figure {
	if !f.Known {
		return f
	}
	f.Method, f.Exact = "collStatsOwned", true
	if each > 0 && n > f.Value/each {
		f.Value, f.Exact = 0, false
		return f
	}
	f.Value -= n * each
	return f
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
		f := figure(w.value(), "shardedDataDistribution", at)
		f.Exact = f.Known
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
