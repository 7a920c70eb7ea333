package placement_test

import (
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// A chunk is taken out of config.chunks while the cluster is watched: a key in its place has no owner, any other has
// the owner that the metadata names, and other collections are located as before. An owner that the cluster does not
// have is told.
func TestAKeyOfADamagedCollectionHasTheOwnerOfTheMetadataOrNone(t *testing.T) {
	const ns, healthy, lost = topology.Namespace("app.orders"), topology.Namespace("app.users"), topology.Namespace("app.lost")
	simulated.Run(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, sim *simulated.Cluster) {
		sim.Do(t, "admin", bson.D{{Key: "enableSharding", Value: "app"}})
		for _, c := range []topology.Namespace{ns, healthy, lost} {
			sim.Do(t, "admin", bson.D{{Key: "shardCollection", Value: c}, {Key: "key", Value: bson.D{{Key: "k", Value: 1}}}})
			for _, at := range []int{10, 20} {
				sim.Do(t, "admin", bson.D{{Key: "split", Value: c}, {Key: "middle", Value: bson.D{{Key: "k", Value: at}}}})
			}
		}
		defer simulated.Start(t, sim.Watcher.Run)()
		time.Sleep(5 * time.Second)
		uuid := sim.Watcher.Table().Collection(ns).Incarnation.UUID
		sim.Do(t, "config", bson.D{{Key: "delete", Value: "chunks"}, {Key: "deletes", Value: bson.A{bson.D{
			{Key: "q", Value: bson.D{{Key: "uuid", Value: bson.Binary{Subtype: bson.TypeBinaryUUID, Data: uuid[:]}},
				{Key: "min.k", Value: 10}}},
			{Key: "limit", Value: 1},
		}}}})
		other := sim.Watcher.Table().Collection(lost).Incarnation.UUID
		sim.Do(t, "config", bson.D{{Key: "update", Value: "chunks"}, {Key: "updates", Value: bson.A{bson.D{
			{Key: "q", Value: bson.D{{Key: "uuid", Value: bson.Binary{Subtype: bson.TypeBinaryUUID, Data: other[:]}}, {Key: "min.k", Value: 10}}},
			{Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "shard", Value: "gone"}, {Key: "lastmod", Value: bson.Timestamp{T: 9}}}}}},
		}}}})
		time.Sleep(3 * time.Minute) // no version changed, so the sweep finds it
		table := sim.Watcher.Table()
		d := table.DamageOf(ns)
		if d == nil || d.Kind != topology.DamageGap || table.Health[topology.PartRouting].Err != nil || table.Collection(ns) == nil {
			t.Fatalf("got damage %+v, health %+v, want a gap beside the last good picture", d, table.Health[topology.PartRouting])
		}
		l := placement.NewLocator(sim.Client, sim.Watcher, fixedTable{table}, profile.Yorkie())
		for _, tc := range []struct {
			ns   topology.Namespace
			key  string
			want []string
		}{
			{ns, `{"k": 5}`, []string{"shard-rs-1"}}, {ns, `{"k": 15}`, nil}, {ns, `{"k": 25}`, []string{"shard-rs-1"}},
			{healthy, `{"k": 15}`, []string{"shard-rs-1"}}, {lost, `{"k": 5}`, []string{"shard-rs-1"}}, {lost, `{"k": 15}`, []string{"gone"}},
		} {
			items := must.Get(l.Locate(t.Context(), placement.Query{NS: tc.ns, Key: tc.key}))
			p := items[0].Places[0]
			if !slices.Equal(p.Shards, tc.want) || (p.Damage != nil) != (tc.ns == ns) || (len(p.Missing) > 0) != slices.Contains(p.Shards, "gone") {
				t.Errorf("%s %s: got %v, damage %v, missing %v, want %v", tc.ns, tc.key, p.Shards, p.Damage, p.Missing, tc.want)
			}
		}
	})
}
