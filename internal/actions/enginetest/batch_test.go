package enginetest

import (
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
)

// moves are items that move chunks of NS, which are on shard-rs-1, to a shard.
func moves(to string, from ...int) (out []actions.PlannedChange) {
	for _, at := range from {
		out = append(out, actions.PlannedChange{Kind: actions.MoveChunk, Args: moveArgs(at, to)})
	}
	return out
}

func moveArgs(from int, to string) actions.Args {
	a := actions.Args{NS: NS, To: to}
	a.Bounds[0], a.Bounds[1] = P(from), P(from+10)
	return a
}

// children are the runs of a batch, in the order in which they began.
func (r *Rig) children(batch string) (out []engine.Run) {
	r.Helper()
	runs, _, err := r.Engine.Runs(r.Context(), "", 200)
	r.Must(err)
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].Parent == batch {
			out = append(out, runs[i])
		}
	}
	return out
}

func TestBatchRunsEachItemAsARunOfItsOwn(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 0, 10, 20), Group: 2})
		run := r.WaitEnd(r.Start(p).ID)
		if run.State != engine.Succeeded || run.Batch.Done != 3 || run.Batch.Groups != 2 || len(run.Steps) != 0 {
			t.Fatalf("%s %v: %+v", run.State, run.Why, run.Batch)
		}
		children := r.children(run.ID)
		if len(children) != 3 {
			t.Fatalf("%d runs", len(children))
		}
		for i, c := range children {
			if c.State != engine.Succeeded || c.Item != i+1 {
				t.Errorf("item %d: %s %v", c.Item, c.State, c.Why)
			}
			r.checkReported(c)
		}
	})
}
