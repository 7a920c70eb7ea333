package enginetest

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/simcluster"
)

// countRows lets the engine count rows of the cluster.
func countRows(o *engine.Options) { o.Counter = o.Reader.(operation.Counter) }

func TestRowsOfMovedRangesAreComparedAfterEachGroup(t *testing.T) {
	OnRig(t, Setup{Wrap: countRows}, func(r *Rig) {
		insertRows(r)
		plans := append(moves("shard-rs-2", 0, 10), actions.PlannedChange{Kind: actions.MoveChunk, Args: actions.Args{NS: NS, To: "shard-rs-2",
			Bounds: [2]bson.Raw{P(bson.MinKey{}), P(0)}}})
		run := r.PlanAndRun(actions.Batch, actions.Args{Plans: plans, Canary: off, Group: 3})
		rows := run.Batch.Rows
		if run.State != engine.Succeeded || rows.Same != 2 || rows.Different != 0 || rows.Unknown != 1 || len(rows.Counts) != 3 {
			r.Fatalf("%s %v: %+v", run.State, run.Why, rows)
		}
		for item, text := range map[int]string{
			1: "app.users has 0 rows in the moved range, as before.",
			2: "app.users has 400 rows in the moved range, as before.",
			3: "app.users: rows of the moved range are not known: they cannot be counted by its bounds.",
		} {
			found := false
			for _, c := range rows.Counts {
				found = found || c.Item == item && strings.HasPrefix(c.Text().String(), text)
			}
			if !found {
				r.Errorf("item %d lacks %q: %+v", item, text, rows.Counts)
			}
		}
	})
}

func TestRangeWithFewerRowsAfterItsMovePausesTheBatch(t *testing.T) {
	for deleted, pauses := range map[int]bool{5: false, 100: true} {
		OnRig(t, Setup{Wrap: countRows}, func(r *Rig) {
			insertRows(r)
			remove := bson.D{{Key: "delete", Value: "users"}, {Key: "deletes", Value: bson.A{bson.D{
				{Key: "q", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: deleted}}}}}, {Key: "limit", Value: 0}}}}}
			r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Do: simcluster.Other("app", remove)})
			id := r.Start(r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 10, 20)})).ID
			run := r.Wait(id, func(run engine.Run) bool { return hasEnded(run) || isHeld(run) })
			if isHeld(run) != pauses {
				r.Fatalf("%d rows deleted: %s %+v", deleted, run.State, run.Batch)
			}
			if pauses && !strings.Contains(run.Batch.Hold.Why.String(), "400 before item 1, 300 after it") {
				r.Errorf("%s", run.Batch.Hold.Why)
			}
		})
	}
}

func TestBatchKeepsFewCountsOfALargeGroup(t *testing.T) {
	OnRig(t, Setup{Wrap: countRows}, func(r *Rig) {
		for i := range 30 {
			r.Admin(bson.D{{Key: "split", Value: NS}, {Key: "middle", Value: keyDoc(1000 + 10*i)}})
		}
		r.Restart()
		var at []int
		for i := range 29 {
			at = append(at, 1000+10*i)
		}
		run := r.PlanAndRun(actions.Batch, actions.Args{Plans: moves("shard-rs-2", at...), Canary: off, Group: 100})
		if rows := run.Batch.Rows; run.State != engine.Succeeded || rows.Same != 29 || len(rows.Counts) != 20 {
			r.Errorf("%s %v: %d the same, %d kept", run.State, run.Why, rows.Same, len(rows.Counts))
		}
	})
}
