package cluster_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
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
			synctest.Wait()
			before := len(got)
			must.That(t, before != 0, "the entries that are there did not come")
			log := func(i int) {
				_, err := sim.Command(t.Context(), "config", bson.D{{Key: "insert", Value: "changelog"}, {Key: "documents", Value: bson.A{bson.D{
					{Key: "_id", Value: i}, {Key: "time", Value: time.Now().Add(time.Duration(-i) * time.Hour)}, {Key: "what", Value: "split"},
				}}}})
				must.Do(t, err)
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

func do(t *testing.T, sim *simcluster.Cluster, db string, cmd bson.D) {
	t.Helper()
	must.Do(t, must.Err(sim.Command(t.Context(), db, cmd)))
}

// However a cursor at the end of the changelog ends, the watcher polls meanwhile, follows again within seconds, has
// each entry once and leaves no cursor.
func TestFollowingComesBack(t *testing.T) {
	fail := func(code int32) func(*testing.T, *simcluster.Cluster) {
		return func(t *testing.T, sim *simcluster.Cluster) {
			sim.Faults().Add(simcluster.Rule{Command: "getMore", At: simcluster.Received, Times: 2, Err: simcluster.Fail(code)})
		}
	}
	const overwritten, steppedDown = 136, 11602
	for name, breaks := range map[string]func(*testing.T, *simcluster.Cluster){
		"overwritten": fail(overwritten), "stepped down": fail(steppedDown),
		"frozen for 15 s": func(t *testing.T, sim *simcluster.Cluster) {
			sim.Faults().Freeze("config")
			time.Sleep(15 * time.Second)
			sim.Faults().Thaw("config")
		},
		"the log was emptied": func(t *testing.T, sim *simcluster.Cluster) {
			do(t, sim, "config", bson.D{{Key: "delete", Value: "changelog"},
				{Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "limit", Value: 0}}}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := simcluster.Options{Projects: 2, Documents: 20, Still: true, ServerVersion: "8.0"}
			onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
				w, stop := watch(t, c, topology.Options{Follow: func() bool { return true }})
				time.Sleep(time.Minute)
				split := func(at string) {
					do(t, sim, "admin", bson.D{{Key: "split", Value: "yorkie-meta.documents"},
						{Key: "middle", Value: bson.D{{Key: "project_id", Value: at}}}})
				}
				chunks := func() int { return w.Table().Collection("yorkie-meta.documents").Chunks.Len() }
				n := chunks()
				breaks(t, sim)
				split("a")
				time.Sleep(5 * time.Second)
				expect.Equal(t, chunks(), n+1, "chunks, %+v", w.Table().Following)
				time.Sleep(time.Minute)
				split("b")
				time.Sleep(100 * time.Millisecond)
				if f := w.Table().Following; !f.Live || chunks() != n+2 {
					t.Errorf("a minute later it is not followed: %+v, %d chunks", f, chunks())
				}
				ids := map[string]int{}
				for _, e := range w.Table().Events {
					if ids[e.ID]++; ids[e.ID] > 1 {
						t.Errorf("%s comes twice", e.ID)
					}
				}
				stop()
				time.Sleep(time.Minute)
				status, err := sim.Command(t.Context(), "admin", bson.D{{Key: "serverStatus", Value: 1}})
				if n := status.Lookup("metrics", "cursor", "open", "total").AsInt64(); err != nil || n != 0 {
					t.Errorf("%d cursors stay, %v", n, err)
				}
			})
		})
	}
}

// A move is shown in flight from its first entry, and nothing is asked about moves while there is none.
func TestAMoveIsShownFromItsFirstEntry(t *testing.T) {
	for _, release := range []string{"5.0", "8.0"} {
		o := simcluster.Options{Projects: 2, Documents: 20, Still: true, Migration: 5 * time.Second, ServerVersion: release}
		onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
			w, stop := watch(t, c, topology.Options{Follow: func() bool { return true }})
			defer stop()
			time.Sleep(time.Minute)
			col := w.Table().Collection("yorkie-meta.documents")
			to := "shard-rs-1"
			if col.Chunks.Owner(0) == to {
				to = "shard-rs-2"
			}
			go func() {
				_, _ = sim.Command(t.Context(), "admin", bson.D{{Key: "moveChunk", Value: "yorkie-meta.documents"},
					{Key: "find", Value: bson.D{{Key: "project_id", Value: bson.MinKey{}}}}, {Key: "to", Value: to}})
			}()
			time.Sleep(300 * time.Millisecond)
			if list := w.Table().Moves.List; len(list) != 1 || list[0].To != to {
				t.Errorf("%s: in flight is %+v", release, list)
			}
			time.Sleep(time.Minute)
			if list := w.Table().Moves.List; len(list) != 0 || w.Table().Collection("yorkie-meta.documents").Chunks.Owner(0) != to {
				t.Errorf("%s: after the move in flight is %+v", release, list)
			}
		})
	}
}

// Every release shows a move from its start to its end, with the number of copied
// documents, the requester and the remaining time.
func TestMigrationInFlightIsShownInEveryRelease(t *testing.T) {
	for _, release := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
		t.Run(release, func(t *testing.T) {
			o := simcluster.Options{ServerVersion: release, Empty: true, Still: true, Migration: time.Minute}
			onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
				at := func(n any) bson.Raw { return document(bson.D{{Key: "p", Value: n}}) }
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
				must.That(t, len(table.Moves.List) == 1, "%+v, %+v", table.Moves, table.Health[topology.PartMoves])
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
				expect.That(t, m.Copied.Known && m.Copied.Value >= rows/3 && m.Copied.Value <= rows*2/3, "copied %+v", m.Copied)
				expect.That(t, m.Estimate.Known && m.Estimate.Value > 0, "estimate %+v", m.Estimate)
				expect.That(t, !m.Left.Known || m.Left.For > 0, "left %+v", m.Left)
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
				expect.That(t, m.Arrived(table), "the chunk is on its recipient, and does not count as arrived")
			})
		})
	}
}
