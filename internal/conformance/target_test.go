package conformance_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/actions/operation"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

var (
	_ topology.Source = (*cluster.Client)(nil)
	_ operation.Admin = (*cluster.Client)(nil)
)

const uriVariable = "SHARDBOARD_TEST_MONGODB_URI"

// releases lists the releases that the simulated cluster supports.
var releases = []string{"4.4", "5.0", "6.0", "7.0", "8.0"}

// ran collects the servers on which tests ran, for the last line of the output.
var ran sync.Map

func TestMain(m *testing.M) {
	code := m.Run()
	ran.Range(func(server, _ any) bool {
		fmt.Println("conformance: ran on", server)
		return true
	})
	os.Exit(code)
}

// onEvery runs a test on every target with its own databases: every simulated release
// with an idle and with a busy balancer, in simulated time, and the real cluster. Tests
// run one after the other, because a real shard takes part in only one migration at a
// time.
func onEvery(t *testing.T, test func(*testing.T, *world)) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			onSimulated(t, simcluster.Options{ServerVersion: release, Still: true}, func(t *testing.T, sim *simcluster.Cluster) {
				test(t, newWorld(t, simcluster.URI(), sim))
			})
		})
		t.Run(release+" busy", func(t *testing.T) { withBusyBalancer(t, release, test) })
	}
	t.Run("real", func(t *testing.T) {
		uri := os.Getenv(uriVariable)
		if uri == "" {
			t.Skip(uriVariable + " names no mongos")
		}
		test(t, newWorld(t, uri, nil))
	})
}

// onSimulated runs a test on an empty simulated cluster, in simulated time.
func onSimulated(t *testing.T, o simcluster.Options, test func(*testing.T, *simcluster.Cluster)) {
	synctest.Test(t, func(t *testing.T) {
		o.Empty = true
		sim := must.Get(simcluster.New(t.Context(), o))
		t.Cleanup(func() { must.Do(t, sim.Close()) })
		sim.Start(t.Context())
		test(t, sim)
	})
}

// newWorld connects as shardboard and as the application that owns the data.
func newWorld(t *testing.T, address string, sim *simcluster.Cluster) *world {
	t.Helper()
	uri := must.Get(cluster.ParseURI(address))
	app := options.Client().ApplyURI(address)
	o := cluster.Options{Timeout: 10 * time.Second}
	if sim != nil {
		o.Dialer = sim
		app.SetDialer(sim).SetServerMonitoringMode("poll")
	}
	c := must.Get(cluster.Connect(t.Context(), uri, o))
	t.Cleanup(func() { must.Do(t, c.Close(context.Background())) })
	data := must.Get(mongo.Connect(app))
	t.Cleanup(func() { must.Do(t, data.Disconnect(context.Background())) })
	w := &world{T: t, source: c, admin: retryingClient{c}, client: c, data: data, simulated: sim != nil}
	w.setUp()
	return w
}
