package enginetest

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

// onIntent does something right after an intent was saved, which is before the last
// check of the preconditions.
func (r *Rig) onIntent(do func()) {
	r.Disk.Fail(nil, func(w Write) error {
		if w.What == "intent" {
			do()
		}
		return nil
	})
}

func (r *Rig) planMove() actions.Plan {
	r.Helper()
	return r.Plan(actions.MoveChunk, moveFirstChunk)
}

func TestStepIsRefusedWhenItsPreconditionsCannotBeRead(t *testing.T) {
	onCases(t, splitAndBalancerOff, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.onIntent(func() {
			r.Sim.Faults().Add(simcluster.Rule{Command: "find", At: simcluster.Received, Err: simcluster.Fail(50), Times: -1})
		})
		run := r.WaitEnd(r.Start(p).ID)
		if run.State != engine.Refused || run.Why.Code != "step.unread" || len(r.Sent(run.ID)) != 0 {
			r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(run.ID)))
		}
	})
}

func TestPreconditionThatChangesRightBeforeTheCommandIsRefused(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.planMove()
		r.Disk.Fail(nil, func(w Write) error {
			if w.What == "intent" {
				r.Admin(bson.D{{Key: "split", Value: NS}, {Key: "middle", Value: P(3)}})
			}
			return nil
		})
		run := r.WaitEnd(r.Start(p).ID)
		if run.State != engine.Refused || len(run.Steps[0].Changed) == 0 || run.Steps[0].Changed[0].Field != "exists" {
			r.Errorf("%s %+v", run.State, run.Steps[0].Changed)
		}
		if n := len(r.Sent(run.ID)); n != 0 {
			r.Errorf("%d commands sent", n)
		}
	})
}

func TestChunkThatMovedAwayAndBackDoesNotMatchThePlan(t *testing.T) {
	for name, change := range map[string]func(*Rig){"chunk": (*Rig).moveAwayAndBack, "collection": (*Rig).recreateCollection} {
		t.Run(name+" before the request", func(t *testing.T) {
			OnRig(t, Setup{}, func(r *Rig) {
				p := r.planMove()
				change(r)
				_, _, err := r.RunPlan(Anna, p)
				var differs *engine.ChangedError
				if !errors.As(err, &differs) || len(differs.Differences) == 0 || len(r.Sim.Faults().Seen()) != 0 {
					r.Errorf("%v, %d sent", err, len(r.Sim.Faults().Seen()))
				}
			})
		})
		t.Run(name+" before the command", func(t *testing.T) {
			OnRig(t, Setup{}, func(r *Rig) {
				p := r.planMove()
				r.onIntent(func() { change(r) })
				run := r.WaitEnd(r.Start(p).ID)
				if run.State != engine.Refused || len(run.Steps[0].Changed) == 0 || len(r.Sent(run.ID)) != 0 {
					r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(run.ID)))
				}
			})
		})
	}
}

func TestPlanForADroppedCollectionIsRefused(t *testing.T) {
	tried := 0
	for _, c := range Cases() {
		if c.Args.NS == "" || strings.HasPrefix(string(c.Kind), "zone-") {
			continue
		}
		tried++
		t.Run(c.Name, func(t *testing.T) {
			OnRig(t, c.Setup(), func(r *Rig) {
				p := c.Plan(r)
				r.onIntent(func() { r.tryCommand("app", bson.D{{Key: "drop", Value: c.Args.NS.Collection()}}) })
				run := r.WaitEnd(r.Start(p).ID)
				if run.State != engine.Refused || len(r.Sent(run.ID)) != 0 {
					r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(run.ID)))
				}
			})
		})
	}
	if tried < 5 {
		t.Errorf("%d kinds of changes of a collection were tried", tried)
	}
}
