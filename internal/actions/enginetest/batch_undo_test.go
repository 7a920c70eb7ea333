package enginetest

import (
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
)

func TestBatchIsUndoneGroupByGroup(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		plans := append(moves("shard-rs-2", 0, 10), actions.PlannedChange{Kind: actions.Split, Args: actions.Args{NS: NS, At: P(25)}})
		run := r.PlanAndRun(actions.Batch, actions.Args{Plans: plans, Group: 2})
		children := r.children(run.ID)
		if run.State != engine.Succeeded || len(children) != 3 || !run.CanUndo() {
			r.Fatalf("%s %v: %+v", run.State, run.Why, run.Batch)
		}
		// Item 2 is undone by itself; the undo of the batch leaves it out.
		one := r.undo(children[1].ID)
		if u := r.WaitEnd(r.Start(one).ID); u.State != engine.Succeeded {
			r.Fatalf("%s %v", u.State, u.Why)
		}
		p := r.undo(run.ID)
		if len(p.Steps) != 2 || p.Steps[0].Item.UndoOf != children[2].ID || p.Steps[0].Item.Group != 1 || p.Steps[1].Item.Group != 2 ||
			p.Kind != actions.Batch || p.UndoOf != run.ID {
			r.Fatalf("%+v", p.Steps)
		}
		undo := r.WaitEnd(r.Start(p).ID)
		if undo.State != engine.Succeeded || undo.UndoOf != run.ID {
			r.Fatalf("%s %v: %+v", undo.State, undo.Why, undo.Batch)
		}
		for _, at := range []int{0, 10, 20} {
			f := operation.Fact{Kind: operation.FactChunk, NS: NS, Min: P(at), Max: P(at + 10)}
			if got := r.ReadFact(f); got["shard"] != "shard-rs-1" {
				r.Errorf("the chunk from %d: %v", at, got)
			}
		}
		after := r.runNow(run.ID)
		if after.State != engine.Undone || after.UndoneBy != undo.ID {
			r.Errorf("%s by %q", after.State, after.UndoneBy)
		}
		if _, err := r.Engine.Undo(r.Context(), Anna, run.ID, ""); fault.Of(err) != fault.Conflict {
			r.Errorf("undone twice: %v", err)
		}
	})
}

func TestUndoOfAStoppedUndoHasWhatIsLeft(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		run := r.PlanAndRun(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10, 20)})
		p := r.undo(run.ID)
		undo, rule := r.startAndHold(p, simcluster.Rule{Command: "moveChunk", At: simcluster.Cloned, Nth: 2})
		r.stop(undo)
		rule.Remove()
		if half := r.WaitEnd(undo); half.State != engine.Stopped {
			r.Fatalf("%s %v", half.State, half.Why)
		}
		p = r.undo(run.ID)
		if len(p.Steps) == 0 || len(p.Steps) > 2 {
			r.Fatalf("%d items are left", len(p.Steps))
		}
		if again := r.WaitEnd(r.Start(p).ID); again.State != engine.Succeeded {
			r.Fatalf("%s %v", again.State, again.Why)
		}
		after := r.runNow(run.ID)
		if after.State != engine.Undone {
			r.Errorf("the batch is %s", after.State)
		}
	})
}
