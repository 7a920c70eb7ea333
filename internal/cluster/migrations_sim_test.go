package cluster_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Every release shows a move from its start to its end, with the number of copied
// documents, the requester and the remaining time.
func TestMigrationInFlightIsShownInEveryRelease(t *testing.T) {
	for _, release := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
		t.Run(release, func(t *testing.T) {
			o := simcluster.Options{ServerVersion: release, Empty: true, Still: true, Migration: time.Minute}
			onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
				at := func(n any) bson.Raw { return document(t, bson.D{{Key: "p", Value: n}}) }
				makeDividedCollection(t, sim, bson.D{{Key: "p", Value: 1}}, at)
				// The recipient must own a chunk, otherwise the mongos does not query it.
				const rows = 4000
				for from := 0; from < rows; from += 500 {
					list := bson.A{}
					for i := range 500 {
						list = append(list, bson.D{{Key: "_id", Value: from + i}, {Key: "p", Value: 20 + (from+i)%5}})
					}
					must.Do(t, run(t, sim, "app", bson.D{{Key: "insert", Value: "users"}, {Key: "documents", Value: list}}))
				}
				w, stop := watch(t, c, topology.Options{})
				defer stop()
				time.Sleep(2 * time.Minute) // wait until sizes are read and orphans are deleted

				moved := make(chan error)
				begun := time.Now()
				go func() {
					moved <- change.Send(t.Context(), c, "r", operation.Step{Op: operation.OpMove, NS: "app.users", Min: at(20),
						Max: at(bson.MaxKey{}), Shard: "shard-rs-2"})
				}()
				time.Sleep(31 * time.Second)
				table := w.Table()
				if len(table.Moves.List) != 1 {
					t.Fatalf("%+v, %+v", table.Moves, table.Health[topology.PartMoves])
				}
				m := table.Moves.List[0]
				if m.NS != "app.users" || m.From != "shard-rs-1" || m.To != "shard-rs-2" || string(m.Min) != string(at(20)) || m.Arrived(table) {
					t.Errorf("%+v", m)
				}
				if d := m.Since.Sub(begun); d < -time.Second || d > time.Second || m.AtLeast {
					t.Errorf("since %s, begun %s", m.Since, begun)
				}
				if m.Steps != 6 && m.Steps != 0 || m.RecipientSteps < 7 || table.Moves.StepsReason != "" {
					t.Errorf("steps: %+v", m)
				}
				if !m.Copied.Known || m.Copied.Value < rows/3 || m.Copied.Value > rows*2/3 {
					t.Errorf("copied %+v", m.Copied)
				}
				if !m.Estimate.Known || m.Estimate.Value <= 0 {
					t.Errorf("estimate %+v", m.Estimate)
				}
				if m.Left.Known && m.Left.For <= 0 {
					t.Errorf("left %+v", m.Left)
				}
				if got, want := table.Moves.FromLog, release >= "6.0"; got != want {
					t.Errorf("from the changelog: %v", got)
				}
				if from, to := m.Positions(table.Collection("app.users")); to != from+1 {
					t.Errorf("chunks %d to %d", from, to)
				}
				must.Do(t, <-moved)
				time.Sleep(3 * time.Second)
				if table = w.Table(); len(table.Moves.List) != 0 {
					t.Errorf("after its end: %+v", table.Moves.List)
				}
				if len(table.Events) == 0 || table.Events[0].What != "moveChunk.from" && table.Events[0].What != "moveChunk.to" &&
					table.Events[0].What != "moveChunk.commit" {
					t.Errorf("what came of it is not known yet: %+v", table.Events)
				}
				if !m.Arrived(table) {
					t.Error("the chunk is on its recipient, and does not count as arrived")
				}
			})
		})
	}
}
