package cluster_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// A time series is listed once: up to 8.2 by its buckets, of which it is a view, from 9.0 on by its own name.
func TestTimeSeriesOfBothFormsAreListedAndCounted(t *testing.T) {
	for release, stored := range map[string]string{"7.0": "system.buckets.weather", "8.3": "system.buckets.weather", "9.0": "weather"} {
		t.Run(release, func(t *testing.T) {
			onSim(t, simcluster.Options{Empty: true, Still: true, ServerVersion: release},
				func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
					must.Do(t, run(t, sim, "app", bson.D{{Key: "create", Value: "weather"}, {Key: "timeseries", Value: bson.D{
						{Key: "timeField", Value: "time"}, {Key: "metaField", Value: "sensor"}}}}))
					must.Do(t, run(t, sim, "app",
						bson.D{{Key: "insert", Value: "plain"}, {Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}}}}}))
					must.Do(t, run(t, sim, "app", bson.D{{Key: "insert", Value: stored}, {Key: "documents", Value: bson.A{
						bson.D{{Key: "_id", Value: 1}, {Key: "meta", Value: "a"}}, bson.D{{Key: "_id", Value: 2}, {Key: "meta", Value: "b"}}}}}))
					list, err := c.Collections(t.Context(), "app")
					must.Do(t, err)
					ns := topology.Namespace("app." + stored)
					slices.Sort(list)
					if want := []topology.Namespace{"app.plain", ns}; !slices.Equal(list, want) {
						t.Errorf("listed: %v, want %v", list, want)
					}
					sizes, err := c.Sizes(t.Context(), ns)
					must.Do(t, err)
					var buckets int64
					for _, s := range sizes.Shards {
						buckets += s.Documents.Value
					}
					if !sizes.Buckets || buckets != 2 {
						t.Errorf("%d buckets, called so: %v; want 2", buckets, sizes.Buckets)
					}
				})
		})
	}
}
