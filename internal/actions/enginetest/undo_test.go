package enginetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
)

// undoRefusal returns the error of undoing a run that cannot be undone.
func (r *Rig) undoRefusal(run engine.Run) error {
	r.Helper()
	_, err := r.Engine.Undo(r.Context(), Anna, run.ID, "")
	if fault.Of(err) != fault.Conflict {
		r.Errorf("undo: %v", err)
	}
	return err
}

func TestUndoRestoresTheCluster(t *testing.T) {
	for _, c := range Cases() {
		if c.NoUndo || c.Kind == actions.BalancerOn || c.Kind == actions.BalancerOff {
			continue // the balancer moves chunks meanwhile
		}
		t.Run(c.Name, func(t *testing.T) {
			OnRig(t, c.Setup(), func(r *Rig) {
				p := c.Plan(r)
				before := r.ReadState().String()
				run := r.WaitEnd(r.Start(p).ID)
				time.Sleep(20 * time.Minute) // for the donor to clean up
				undo, err := r.Engine.Undo(r.Context(), Anna, run.ID, "")
				r.Must(err)
				r.WaitEnd(r.Start(undo).ID)
				if after := r.ReadState().String(); after != before {
					r.Errorf("before:\n%safter:\n%s", before, after)
				}
			})
		})
	}
}

func TestPlanRunAndUndoAgreeThatAClearedFlagCannotBeUndone(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		r.setJumboFlag(true)
		p := r.Plan(actions.ClearJumbo, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}})
		if p.Undo.Possible || p.Confirm == "" || p.Risk != actions.High {
			r.Errorf("the plan: undo %v, confirm %q, risk %s", p.Undo.Possible, p.Confirm, p.Risk)
		}
		if _, _, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash}); fault.Of(err) != fault.Invalid {
			r.Errorf("without the text: %v", err)
		}
		run := r.WaitEnd(r.Start(p).ID)
		if run.State != engine.Succeeded || run.CanUndo() {
			r.Errorf("the run: %s, can be undone %v", run.State, run.CanUndo())
		}
		if err := r.undoRefusal(run); !strings.Contains(fault.Text(err), "jumbo") {
			r.Errorf("the answer: %v", err)
		}
	})
}

func TestUndoCannotBeUndone(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		run := r.PlanAndRun(actions.Split, actions.Args{NS: NS, At: P(5)})
		undo, err := r.Engine.Undo(r.Context(), Anna, run.ID, "")
		r.Must(err)
		if undo.Undo.Possible || undo.Confirm != "" || undo.UndoOf != run.ID {
			r.Errorf("the plan: %+v, confirm %q", undo.Undo, undo.Confirm)
		}
		if undo.Summary.Args()["of"] != run.Summary.Code || undo.Summary.Args()["at"] != run.Summary.Args()["at"] {
			r.Errorf("the plan does not say what it takes back: %+v", undo.Summary)
		}
		back := r.WaitEnd(r.Start(undo).ID)
		if back.State != engine.Succeeded || back.CanUndo() {
			r.Errorf("the run: %s, can be undone %v", back.State, back.CanUndo())
		}
		if err := r.undoRefusal(back); !strings.Contains(fault.Text(err), "first plan") {
			r.Errorf("the answer: %v", err)
		}
		if run, err = r.Engine.RunByID(r.Context(), run.ID); err != nil || run.State != engine.Undone || run.UndoneBy != back.ID {
			r.Errorf("the first run: %s by %q, %v", run.State, run.UndoneBy, err)
		}
	})
}

func TestUndoOfAChangedRangeReportsWhatChanged(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		run := r.PlanAndRun(actions.Split, actions.Args{NS: NS, At: P(5)})
		r.moveByOtherCleanly(5, 10, "shard-rs-3")
		time.Sleep(time.Minute)
		err := r.undoRefusal(run)
		var differs *engine.ChangedError
		if !errors.As(err, &differs) || len(differs.Differences) != 1 {
			r.Fatalf("%v", err)
		}
		d := differs.Differences[0]
		if d.Field != "shards" || d.Want != "shard-rs-1" || d.Got != "shard-rs-1,shard-rs-3" || d.Fact.NS != NS {
			r.Errorf("%+v", d)
		}
	})
}
