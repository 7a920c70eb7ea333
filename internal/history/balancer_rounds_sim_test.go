package history_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/history"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// migrationsAfterManualMove moves a chunk manually in a cluster whose balancer is on,
// and returns the reported migrations three minutes later.
func migrationsAfterManualMove(t *testing.T, o simcluster.Options, denied bool) []history.Migration {
	sim, err := simcluster.New(t.Context(), o)
	must.Do(t, err)
	defer func() { _ = sim.Close() }()
	sim.Start(t.Context())
	if _, err := sim.Command(t.Context(), "admin", bson.D{{Key: "balancerStart", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	uri := must.Get(cluster.ParseURI(simcluster.URI()))
	c, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim})
	must.Do(t, err)
	defer func() { _ = c.Close(context.Background()) }()
	var src topology.Source = c
	if denied {
		src = withoutBalancerLog{c}
	}
	w := topology.NewWatcher(src, topology.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.Run(ctx) }()
	defer func() { cancel(); <-done }()
	time.Sleep(20 * time.Second)
	if !o.Still {
		time.Sleep(10 * time.Minute)
		table := w.Table()
		return history.Migrations(table, time.Now(), nil, history.NowEras(table))
	}
	coll := w.Table().Collection("yorkie-meta.changes")
	chunk := coll.Chunks.At(0)
	to := "shard-rs-1"
	if chunk.Shard == to {
		to = "shard-rs-2"
	}
	lower := must.Get(coll.Key.Document(chunk.Min))
	upper := must.Get(coll.Key.Document(chunk.Max))
	must.Do(t, c.MoveChunk(t.Context(), "", topology.Move{NS: coll.NS, Min: lower, Max: upper, To: to}))
	time.Sleep(3 * time.Minute)
	table := w.Table()
	return history.Migrations(table, time.Now(), nil, history.NowEras(table))
}

// withoutBalancerLog is a client without permission to read the balancer's log.
type withoutBalancerLog struct{ *cluster.Client }

func (withoutBalancerLog) BalancerActions(context.Context, int) ([]topology.BalancerAction, error) {
	denied := &topology.DeniedError{Privilege: "find on config.actionlog", Err: errors.New("code 13")}
	return nil, fault.Wrap(fault.Forbidden, denied, "It may not be read.")
}

func TestManualMoveIsNotAttributedToARunningBalancer(t *testing.T) {
	for _, release := range []string{"7.0", "8.0"} { // their balancers do not move small data
		synctest.Test(t, func(t *testing.T) {
			got := migrationsAfterManualMove(t, simcluster.Options{Projects: 3, Documents: 60, ServerVersion: release, Still: true}, false)
			if len(got) == 0 || got[0].Cause != (history.Cause{By: history.ByOther, Inferred: true, Basis: "noRound"}) {
				t.Errorf("%s: %+v", release, got)
			}
		})
	}
}

func TestMoveOriginIsUnknownWithoutPermissionToReadTheBalancerLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := migrationsAfterManualMove(t, simcluster.Options{Projects: 3, Documents: 60, ServerVersion: "8.0", Still: true}, true)
		if len(got) == 0 || got[0].Cause != (history.Cause{By: history.ByUnknown, Basis: "roundsDenied"}) {
			t.Errorf("got %+v, want one migration of unknown origin because rounds could not be read", got)
		}
	})
}

func TestBalancerMoveIsFoundInTheBalancerLog(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a live cluster for ten simulated minutes")
	}
	synctest.Test(t, func(t *testing.T) {
		found := 0
		for _, m := range migrationsAfterManualMove(t, simcluster.Options{Projects: 3, Documents: 60}, false) {
			if m.Cause == (history.Cause{By: history.ByBalancer, Inferred: true, Basis: "rounds"}) {
				found++
			}
		}
		if found == 0 {
			t.Error("no migration of the balancer was found")
		}
	})
}
