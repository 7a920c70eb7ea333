package cluster_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
)

// Where nobody samples queries, nothing is said of them; else the server's shares are those of the lab.
func TestSampledQueriesAreAskedOfWhereTheyExist(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true, Still: true, ServerVersion: "8.0"},
		func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
			var docs bson.A
			for i := range 1200 {
				docs = append(docs, bson.D{{Key: "_id", Value: i}, {Key: "p", Value: i}})
			}
			must.Do(t, run(t, sim, "admin", bson.D{{Key: "shardCollection", Value: "app.t"}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}}))
			must.Do(t, run(t, sim, "app", bson.D{{Key: "insert", Value: "t"}, {Key: "documents", Value: docs}}))
			key := must.Get(shardkey.ParsePattern(document(t, bson.D{{Key: "p", Value: 1}})))
			if a, err := c.AnalyzeKey(t.Context(), "app.t", key, 100); err != nil || a.Queries != nil {
				t.Errorf("%v, queries %+v, want none", err, a.Queries)
			}
			must.Do(t, run(t, sim, "admin", bson.D{{Key: "configureQueryAnalyzer", Value: "app.t"}, {Key: "mode", Value: "full"},
				{Key: "samplesPerSecond", Value: 50}}))
			for _, filter := range []bson.D{{{Key: "p", Value: 7}}, {{Key: "p", Value: 8}}, {{Key: "other", Value: 1}},
				{{Key: "p", Value: bson.D{{Key: "$lt", Value: 5}}}}} {
				must.Do(t, run(t, sim, "app", bson.D{{Key: "find", Value: "t"}, {Key: "filter", Value: filter}}))
			}
			a, err := c.AnalyzeKey(t.Context(), "app.t", key, 100)
			must.Do(t, err)
			if q := a.Queries; q == nil || q.Reason != "" || q.Reads.Sampled != 4 || q.Reads.One != 0.5 || q.Reads.Several != 0.25 ||
				q.Reads.All != 0.25 || q.Writes.Sampled != 0 {
				t.Errorf("queries %+v", a.Queries)
			}
			// A key with too few values for the server's ranges has a reason, and still its own figures.
			must.Do(t, run(t, sim, "app", bson.D{{Key: "createIndexes", Value: "t"}, {Key: "indexes", Value: bson.A{
				bson.D{{Key: "key", Value: bson.D{{Key: "few", Value: 1}}}, {Key: "name", Value: "few_1"}}}}}))
			few, err := shardkey.ParsePattern(document(t, bson.D{{Key: "few", Value: 1}}))
			must.Do(t, err)
			if a, err = c.AnalyzeKey(t.Context(), "app.t", few, 100); err != nil || a.Rows == 0 || a.Queries == nil || a.Queries.Reason == "" {
				t.Errorf("%v %+v", err, a)
			}
		})
}
