package cluster_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

func TestOwnersAreReadNewestFirstAndARowThatCannotBeReadCostsItself(t *testing.T) {
	const ns = "yorkie-meta.documents"
	at := func(n int) bson.Timestamp { return bson.Timestamp{T: uint32(4_000_000_000 + n), I: 1} }
	insert := func(t *testing.T, sim *simcluster.Cluster, n int, shards any) {
		t.Helper()
		must.Do(t, run(t, sim, "config", bson.D{{Key: "insert", Value: "placementHistory"}, {Key: "documents", Value: bson.A{bson.D{
			{Key: "_id", Value: fmt.Sprint(n)}, {Key: "nss", Value: ns}, {Key: "timestamp", Value: at(n)}, {Key: "shards", Value: shards}}}}}))
	}
	o := simcluster.Options{Projects: 4, Documents: 40, Still: true, ServerVersion: "8.0"}
	onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, sent *counter) {
		first, more, err := c.Owners(t.Context(), ns)
		if err != nil || more || len(first) == 0 || first[len(first)-1].UUID == ([16]byte{}) || len(first[0].Shards) == 0 {
			t.Fatalf("%+v, more %v, %v", first, more, err)
		}
		insert(t, sim, 1, bson.A{"shard-rs-2", "shard-rs-1"})
		insert(t, sim, 2, "no list")
		insert(t, sim, 3, bson.A{"shard-rs-1", 7})
		insert(t, sim, 4, bson.A{})
		rows, _, err := c.Owners(t.Context(), ns)
		var skipped *topology.SkippedError
		if !errors.As(err, &skipped) || skipped.Count != 2 {
			t.Errorf("two odd rows: %v", err)
		}
		if len(rows) != len(first)+2 || rows[0].Since != at(4) || len(rows[0].Shards) != 0 || rows[1].Since != at(1) ||
			!slices.Equal(rows[1].Shards, []string{"shard-rs-2", "shard-rs-1"}) || rows[2].Since != first[0].Since {
			t.Errorf("%+v", rows)
		}
		for n := range 60 {
			insert(t, sim, 10+n, bson.A{"shard-rs-3"})
		}
		rows, more, err = c.Owners(t.Context(), ns)
		if err != nil || !more || len(rows) != 50 || rows[0].Since != at(69) || rows[49].Since != at(20) {
			t.Errorf("%d rows, more %v, %v", len(rows), more, err)
		}
		sent.take()
		_, _, err = c.Owners(t.Context(), ns)
		if got := sent.take(); err != nil || !slices.Equal(got, []string{"config.find"}) {
			t.Errorf("it sent %v, %v", got, err)
		}
	})
}
