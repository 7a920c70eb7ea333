package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// runAnalyzeShardKey analyzes a shard key candidate (7.0). It counts all documents
// instead of sampling. Queries are not sampled at all, so the read and write
// distributions have sample size 0.
func (c *Cluster) runAnalyzeShardKey(_ context.Context, req *engine.Request) (bson.D, error) {
	ns, err := namespace(req)
	if err != nil {
		return nil, err
	}
	raw, ok := req.Lookup("key").DocumentOK()
	if !ok {
		return nil, missingField("analyzeShardKey", "key")
	}
	p, err := parsePattern(raw)
	if err != nil {
		return nil, err
	}
	wanted := func(name string) bool {
		v := req.Lookup(name)
		return v.Type == 0 || truthy(v)
	}
	if !wanted("keyCharacteristics") && !wanted("readWriteDistribution") {
		return nil, status.Errorf(status.InvalidOptions,
			"Cannot analyze a shard key without analyzing the characteristics of the shard key or the read and write distribution")
	}
	if req.Lookup("sampleRate").Type != 0 && req.Lookup("sampleSize").Type != 0 {
		return nil, status.Errorf(status.InvalidOptions, "Cannot specify both 'sampleRate' and 'sampleSize'")
	}
	c.Mu.RLock()
	defer c.Mu.RUnlock()
	a, err := c.analyze(ns, p)
	if err != nil {
		return nil, err
	}
	var d bson.D
	if wanted("keyCharacteristics") && a.supported {
		d = append(d, bson.E{Key: "keyCharacteristics", Value: a.document()})
	}
	if wanted("readWriteDistribution") {
		reads := bson.D{{Key: "total", Value: int64(0)}}
		for _, name := range []string{"find", "aggregate", "count", "distinct"} {
			reads = append(reads, bson.E{Key: name, Value: int64(0)})
		}
		writes := bson.D{{Key: "total", Value: int64(0)}}
		for _, name := range []string{"update", "delete", "findAndModify"} {
			writes = append(writes, bson.E{Key: name, Value: int64(0)})
		}
		d = append(d,
			bson.E{Key: "readDistribution", Value: bson.D{{Key: "sampleSize", Value: reads}}},
			bson.E{Key: "writeDistribution", Value: bson.D{{Key: "sampleSize", Value: writes}}})
	}
	return d, nil
}
