package enginetest

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

// startUnshard begins to unshard NS.
func (r *Rig) startUnshard() engine.Run {
	r.Helper()
	return r.Start(r.Plan(actions.Unshard, actions.Args{NS: NS, To: "shard-rs-2"}))
}

func TestUnshardingShowsItsProgressAndIsProven(t *testing.T) {
	onReshardRig(t, "8.0", func(r *Rig) {
		id := r.startUnshard().ID
		r.copying(id)
		run := r.WaitEnd(id)
		if run.State != engine.Succeeded || !r.ReadState().HasEffect(run.Steps[0].Step) || run.CanUndo() {
			r.Errorf("%s %v, can be undone %v: %+v", run.State, run.Why, run.CanUndo(), r.ReadState())
		}
		r.CheckSentOnce(run)
	})
}

func TestUnshardingIsJoinedAfterARestart(t *testing.T) {
	onReshardRig(t, "8.0", func(r *Rig) {
		id := r.startUnshard().ID
		r.copying(id)
		r.Restart()
		run := r.WaitEnd(id)
		if run.State != engine.Succeeded || !run.Resolved || !r.ReadState().HasEffect(run.Steps[0].Step) {
			r.Errorf("%s %v resolved %v", run.State, run.Why, run.Resolved)
		}
		r.CheckSentOnce(run)
	})
}

func TestAbortOfAnUnshardingEndsItsRunWithoutEffect(t *testing.T) {
	onReshardRig(t, "8.0", func(r *Rig) {
		id := r.startUnshard().ID
		r.copying(id)
		abort := r.WaitEnd(r.Start(r.Plan(actions.UnshardAbort, actions.Args{NS: NS})).ID)
		run := r.WaitEnd(id)
		if abort.State != engine.Succeeded || run.State != engine.Failed || r.ReadState().Unsplittable {
			r.Errorf("abort %s %v, run %s %v", abort.State, abort.Why, run.State, run.Why)
		}
		if by, _ := run.Steps[0].Why.Fact("run"); by.Value != abort.ID {
			r.Errorf("aborted by %q, want %s: %v", by.Value, abort.ID, run.Steps[0].Why)
		}
	})
}

func TestUnshardedCollectionIsMovedAndMovedBack(t *testing.T) {
	OnRig(t, Setup{Sim: simcluster.Options{ServerVersion: "8.0"}}, func(r *Rig) {
		_, err := r.Sim.Command(r.Context(), "app", bson.D{
			{Key: "insert", Value: "plain"}, {Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}}}},
		})
		r.Must(err)
		r.Restart() // lists the collections again
		run := r.WaitEnd(r.Start(r.Plan(actions.MoveCollection, actions.Args{NS: "app.plain", To: "shard-rs-3"})).ID)
		if run.State != engine.Succeeded || r.placeOf("app.plain") != "shard-rs-3" {
			r.Fatalf("%s %v: on %s", run.State, run.Why, r.placeOf("app.plain"))
		}
		undo, err := r.Engine.Undo(r.Context(), Anna, run.ID, "")
		r.Must(err)
		if back := r.WaitEnd(r.Start(undo).ID); back.State != engine.Succeeded || r.placeOf("app.plain") != "shard-rs-1" {
			r.Errorf("%s %v: on %s", back.State, back.Why, r.placeOf("app.plain"))
		}
	})
}

// placeOf is the shard of the only chunk of a tracked collection.
func (r *Rig) placeOf(ns string) (shard string) {
	r.Helper()
	var id bson.RawValue
	r.Must(r.findConfig(r.Context(), "collections", bson.D{{Key: "_id", Value: ns}}, func(row bson.Raw) { id = row.Lookup("uuid") }))
	r.Must(r.findConfig(r.Context(), "chunks", bson.D{{Key: "uuid", Value: id}}, func(row bson.Raw) {
		shard, _ = row.Lookup("shard").StringValueOK()
	}))
	return shard
}

// A move of the primary that lost its answer is followed to its end, and not sent again.
func TestMoveOfAPrimaryIsFollowedAfterItsAnswerIsLost(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.MovePrimary, actions.Args{DB: "app", To: "shard-rs-2"})
		r.Sim.Faults().Add(simcluster.Rule{Command: "movePrimary", At: simcluster.Received, Delay: 2 * time.Hour})
		id := r.Start(p).ID
		time.Sleep(time.Minute)
		r.Restart()
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Running })
		run := r.WaitEnd(id)
		succeeded := run.State == engine.Succeeded
		if !succeeded && run.State != engine.Failed || r.ReadState().HasEffect(run.Steps[0].Step) != succeeded {
			r.Errorf("%s %v: the primary is %s", run.State, run.Why, r.ReadState().Primary)
		}
		r.CheckSentOnce(run)
	})
}
