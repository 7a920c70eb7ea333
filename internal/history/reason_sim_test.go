package history_test

import (
	"context"
	"fmt"
	"strings"
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

// A range is moved away and requested back while its orphans wait for deletion: only
// moveChunk.to has the reason. Then splits of the server's own collection fill the log
// at once.
func TestReasonOfAFailedMoveIsReadFromARunningCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, err := simcluster.New(t.Context(), simcluster.Options{Projects: 3, Documents: 60, Still: true})
		must.Do(t, err)
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		uri := must.Get(cluster.ParseURI(simcluster.URI()))
		c, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim})
		must.Do(t, err)
		defer func() { _ = c.Close(context.Background()) }()
		w := topology.NewWatcher(c, topology.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = w.Run(ctx) }()
		defer func() { cancel(); <-done }()
		time.Sleep(20 * time.Second)
		coll := w.Table().Collection("yorkie-meta.documents")
		chunk := coll.Chunks.At(0)
		lower := must.Get(coll.Key.Document(chunk.Min))
		upper := must.Get(coll.Key.Document(chunk.Max))
		to := "shard-rs-1"
		if chunk.Shard == to {
			to = "shard-rs-2"
		}
		must.Do(t, c.MoveChunk(t.Context(), "", topology.Move{NS: coll.NS, Min: lower, Max: upper, To: to}))
		err = c.MoveChunk(t.Context(), "", topology.Move{NS: coll.NS, Min: lower, Max: upper, To: chunk.Shard})
		if text := fault.Text(err); history.CodeOf(text) != history.OrphansWait || !strings.Contains(text, "operation exceeded time limit") {
			t.Fatalf("unexpected error of the move: %q", text)
		}
		var rows bson.A
		for i := range 1023 {
			rows = append(
				rows,
				bson.D{
					{Key: "_id", Value: fmt.Sprint("split-", i)},
					{Key: "time", Value: bson.NewDateTimeFromTime(time.Now())},
					{Key: "what", Value: "multi-split"},
					{Key: "ns", Value: "config.system.sessions"},
					{Key: "details", Value: bson.D{{Key: "number", Value: i + 1}, {Key: "of", Value: 1024}, {Key: "owningShard", Value: chunk.Shard}}},
				},
			)
		}
		if _, err := sim.Command(t.Context(), "config",
			bson.D{{Key: "insert", Value: "changelog"}, {Key: "documents", Value: rows}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		table := w.Table()
		failed := 0
		why := history.Reasons(table.Events, nil)
		for _, e := range table.Events {
			if !e.FailedMove() {
				continue
			}
			failed++
			if r := why[e.ID]; r.From != "moveChunk.to" || r.Code != history.OrphansWait ||
				!strings.Contains(r.Text, "Failed to delete orphaned "+string(coll.NS)+" range [{") {
				t.Errorf("%s: %+v", e.What, r)
			}
		}
		if failed != 3 || table.Events[0].NS != "config.system.sessions" {
			t.Errorf("%d of %d entries belong to the failure", failed, len(table.Events))
		}
	})
}
