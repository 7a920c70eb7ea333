package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/heat/rowsample"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// sampledQueries asks analyzeShardKey where the sampled queries of a collection would go under a key. It is asked only
// of a collection whose queries are or were sampled, because the server draws rows for every answer; nil: they never
// were.
func (c *Client) sampledQueries(ctx context.Context, ns topology.Namespace, key shardkey.Pattern) *rowsample.Queries {
	sampled := false
	find := bson.D{{Key: "find", Value: "queryAnalyzers"}, {Key: "filter", Value: bson.D{{Key: "_id", Value: string(ns)}}},
		{Key: "limit", Value: 1}, {Key: "readConcern", Value: majority}}
	err := c.each(ctx, "config", find, findOn("queryAnalyzers", "read whose queries are sampled"), func(bson.Raw) error {
		sampled = true
		return nil
	})
	if err == nil && !sampled {
		return nil
	}
	var reply bson.Raw
	if err == nil {
		reply, err = c.one(ctx, "admin", bson.D{{Key: "analyzeShardKey", Value: string(ns)}, {Key: "key", Value: key.Raw()},
			{Key: "keyCharacteristics", Value: false}},
			readOp{what: "analyze the queries of " + quoted(string(ns)), privilege: on("analyzeShardKey", ns)})
	}
	if err != nil {
		return &rowsample.Queries{Reason: fault.Text(err)}
	}
	return &rowsample.Queries{Reads: targets(reply, "readDistribution", "Reads"), Writes: targets(reply, "writeDistribution", "Writes")}
}

// targets reads one of the two distributions.
func targets(reply bson.Raw, distribution, of string) (t rowsample.Targets) {
	t.Sampled, _ = topology.Amount(reply.Lookup(distribution, "sampleSize", "total"))
	share := func(name string) float64 {
		f, _ := reply.Lookup(distribution, "percentageOf"+name+of).AsFloat64OK()
		return f / 100
	}
	if t.Sampled > 0 {
		t.One, t.Several, t.All = share("SingleShard"), share("MultiShard"), share("ScatterGather")
	}
	return t
}
