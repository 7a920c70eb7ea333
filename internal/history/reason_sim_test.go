package history_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/history"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// withoutBalancerLog is a client without permission to read the balancer's log.
type withoutBalancerLog struct{ *cluster.Client }

func (withoutBalancerLog) BalancerActions(context.Context, int) ([]topology.BalancerAction, error) {
	denied := &topology.DeniedError{Privilege: "find on config.actionlog", Err: errors.New("code 13")}
	return nil, fault.Wrap(fault.Forbidden, denied, "It may not be read.")
}

// onSim runs a test on a small cluster with a running watcher.
func onSim(t *testing.T, o simcluster.Options, test func(t *testing.T, c *simulated.Cluster)) {
	t.Helper()
	o.Projects, o.Documents = 3, 60
	simulated.Run(t, o, func(t *testing.T, c *simulated.Cluster) {
		defer simulated.Start(t, c.Watcher.Run)()
		time.Sleep(20 * time.Second)
		test(t, c)
	})
}

func migrations(w *topology.Watcher) []history.Migration {
	return history.Migrations(w.Table(), time.Now(), nil, history.NowEras(w.Table()))
}

func TestManualMoveIsNotAttributedToARunningBalancer(t *testing.T) {
	for _, release := range []string{"7.0", "8.0"} { // their balancers do not move small data
		onSim(t, simcluster.Options{ServerVersion: release, Still: true}, func(t *testing.T, c *simulated.Cluster) {
			c.Do(t, "admin", bson.D{{Key: "balancerStart", Value: 1}})
			denied := topology.NewWatcher(withoutBalancerLog{c.Client}, topology.Options{})
			defer simulated.Start(t, denied.Run)()
			c.MoveFirst(t, "yorkie-meta.changes")
			time.Sleep(3 * time.Minute)
			byHand := history.Cause{By: history.ByOther, Inferred: true, Basis: "noRound"}
			if got := migrations(c.Watcher); len(got) == 0 || got[0].Cause != byHand {
				t.Errorf("%s: %+v", release, got)
			}
			if got := migrations(denied); len(got) == 0 || got[0].Cause != (history.Cause{By: history.ByUnknown, Basis: "roundsDenied"}) {
				t.Errorf("%s, without permission to read the balancer's log: %+v", release, got)
			}
		})
	}
}

func TestBalancerMoveIsFoundInTheBalancerLog(t *testing.T) {
	only.Long(t, "runs a live cluster for ten simulated minutes")
	onSim(t, simcluster.Options{}, func(t *testing.T, c *simulated.Cluster) {
		c.Do(t, "admin", bson.D{{Key: "balancerStart", Value: 1}})
		time.Sleep(10 * time.Minute)
		if !slices.ContainsFunc(migrations(c.Watcher), func(m history.Migration) bool {
			return m.Cause == history.Cause{By: history.ByBalancer, Inferred: true, Basis: "rounds"}
		}) {
			t.Error("no migration of the balancer was found")
		}
	})
}

// A range is moved away and requested back while its orphans wait for deletion: only moveChunk.to has the reason. Then
// splits of the server's own collection fill the log at once.
func TestReasonOfAFailedMoveIsReadFromARunningCluster(t *testing.T) {
	onSim(t, simcluster.Options{Still: true}, func(t *testing.T, c *simulated.Cluster) {
		chunk := c.Watcher.Table().Collection("yorkie-meta.documents").Chunks.At(0)
		move := c.FirstMove("yorkie-meta.documents")
		must.Do(t, change.Send(t.Context(), c.Client, "", move))
		move.Shard = chunk.Shard
		err := change.Send(t.Context(), c.Client, "", move)
		if text := fault.Text(err); history.CodeOf(text) != history.OrphansWait || !strings.Contains(text, "operation exceeded time limit") {
			t.Fatalf("unexpected error of the move: %q", text)
		}
		for i := range 1023 {
			c.Insert(t, "config.changelog", bson.D{{Key: "_id", Value: fmt.Sprint("split-", i)},
				{Key: "time", Value: bson.NewDateTimeFromTime(time.Now())}, {Key: "what", Value: "multi-split"},
				{Key: "ns", Value: "config.system.sessions"}, {Key: "details", Value: bson.D{{Key: "number", Value: i + 1},
					{Key: "of", Value: 1024}, {Key: "owningShard", Value: chunk.Shard}}}})
		}
		time.Sleep(time.Minute)
		table, failed := c.Watcher.Table(), 0
		why := history.Reasons(table.Events, nil)
		for _, e := range table.Events {
			if !e.FailedMove() {
				continue
			}
			failed++
			if r := why[e.ID]; r.From != "moveChunk.to" || r.Code != history.OrphansWait ||
				!strings.Contains(r.Text, "Failed to delete orphaned yorkie-meta.documents range [{") {
				t.Errorf("%s: %+v", e.What, r)
			}
		}
		if failed != 3 || table.Events[0].NS != "config.system.sessions" {
			t.Errorf("%d of %d entries belong to the failure", failed, len(table.Events))
		}
	})
}
