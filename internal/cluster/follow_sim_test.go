package cluster_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Entries come in the order of the log and at once, a quiet minute costs six answers, and no cursor stays when the
// context ends, the cursor is killed, its position is overwritten or its answer fails.
func TestTheChangelogIsFollowed(t *testing.T) {
	for _, release := range []string{"5.0", "8.0"} {
		o := simcluster.Options{Projects: 2, Documents: 5, Still: true, ServerVersion: release}
		onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, sent *counter) {
			var got []topology.Event
			var came []time.Time
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				done <- c.Follow(ctx, time.Time{}, func(batch []topology.Event) {
					for _, e := range batch {
						got, came = append(got, e), append(came, time.Now())
					}
				})
			}()
			time.Sleep(time.Second)
			before := len(got)
			if before == 0 {
				t.Fatal("the entries that are there did not come")
			}
			log := func(i int) {
				_, err := sim.Command(t.Context(), "config", bson.D{{Key: "insert", Value: "changelog"}, {Key: "documents", Value: bson.A{bson.D{
					{Key: "_id", Value: i}, {Key: "time", Value: time.Now().Add(time.Duration(-i) * time.Hour)}, {Key: "what", Value: "split"},
				}}}})
				if err != nil {
					t.Fatal(err)
				}
			}
			for i := range 20 {
				written := time.Now()
				log(i)
				synctest.Wait()
				if len(got) != before+i+1 || came[len(came)-1].Sub(written) > 50*time.Millisecond {
					t.Fatalf("%s: entry %d came after %s", release, i, time.Since(written))
				}
				time.Sleep(time.Duration(i) * 700 * time.Millisecond)
			}
			sent.take()
			time.Sleep(time.Minute)
			if names := sent.take(); len(names) > 7 {
				t.Errorf("%s: %v in a quiet minute", release, names)
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: ended with %v", release, err)
			}
			time.Sleep(time.Second)
			status, err := sim.Command(t.Context(), "admin", bson.D{{Key: "serverStatus", Value: 1}})
			if n := status.Lookup("metrics", "cursor", "open", "total").AsInt64(); err != nil || n != 0 {
				t.Errorf("%s: %d cursors stay, %v", release, n, err)
			}
		})
	}
}
