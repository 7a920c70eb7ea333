package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// analyzedRanges is the number of ranges for which queries are counted (analyzeShardKeyNumRanges).
const analyzedRanges = 100

// runAnalyzeShardKey analyzes a shard key candidate (7.0). It counts all documents
// instead of sampling; of queries it has those that configureQueryAnalyzer sampled.
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
		if err := tooFewValues(analyzedRanges, a.points); err != nil && c.features.observed8 {
			e := status.Of(err)
			return nil, status.Errorf(e.Code, "Failed to find split points that partition the data into %d chunks with roughly equal "+
				"number of documents using the shard key being analyzed :: caused by :: %s", analyzedRanges, e.Message)
		}
		var samples []SampledQuery
		if q := c.analyzers[ns]; q != nil && q.uuid == a.uuid {
			samples = q.samples
		}
		reads, writes := distributionOf(samples, a, p)
		d = append(d, bson.E{Key: "readDistribution", Value: reads}, bson.E{Key: "writeDistribution", Value: writes})
	}
	return d, nil
}
