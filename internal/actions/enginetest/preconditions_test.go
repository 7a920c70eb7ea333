package enginetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
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
	onCases(t, 0, func(r *Rig, c Case) {
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

func checkOf(p actions.Plan, id string) actions.Check {
	for _, c := range p.Checks {
		if c.ID == id {
			return c
		}
	}
	return actions.Check{}
}

func TestPlanSeesAJumboFlagSetAMomentAgo(t *testing.T) {
	for _, release := range []string{"4.4", "5.0", "8.0"} {
		t.Run(release, func(t *testing.T) {
			OnRig(t, Setup{Sim: simcluster.Options{ServerVersion: release}}, func(r *Rig) {
				if c := checkOf(r.planMove(), "jumbo"); c.Verdict != actions.Pass || c.Source.Code != "cluster" {
					r.Errorf("before the flag: %+v", c)
				}
				r.setJumboFlag(true)
				if c := checkOf(r.planMove(), "jumbo"); c.Verdict != actions.Block || c.Text.Code != "jumbo.flagged" {
					r.Errorf("a flagged chunk: %+v", c)
				}
				if p := r.Plan(actions.ClearJumbo, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}}); p.Blocked() {
					r.Errorf("the flag cannot be cleared: %+v", p.Checks)
				}
				r.setJumboFlag(false)
				if c := checkOf(r.planMove(), "jumbo"); c.Verdict != actions.Pass {
					r.Errorf("after the flag: %+v", c)
				}
			})
		})
	}
}

func TestChunkFlaggedAfterThePlanIsNotMoved(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.planMove()
		r.setJumboFlag(true)
		if got := r.changesReported(p); !slices.Equal(changedFields(got), []string{"jumbo"}) {
			r.Errorf("before the request: changed %+v", got)
		}
		r.setJumboFlag(false)
		p = r.planMove()
		r.onIntent(func() { r.setJumboFlag(true) })
		run := r.WaitEnd(r.Start(p).ID)
		if run.State != engine.Refused || !slices.Equal(changedFields(run.Steps[0].Changed), []string{"jumbo"}) || len(r.Sent(run.ID)) != 0 {
			r.Errorf("before the command: %s %v %+v", run.State, run.Why, run.Steps[0].Changed)
		}
	})
}

// A forced move and its undo do not depend on the jumbo flag.
func TestFlaggedChunkIsMovedByForceAndUndone(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		r.setJumboFlag(true)
		forced := actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-2", Force: true}
		run := r.succeeds(r.PlanAndRun(actions.MoveChunk, forced).ID)
		time.Sleep(20 * time.Minute)
		undo := r.undo(run.ID)
		r.succeeds(r.Start(undo).ID)
	})
}

// unreadableChunks is a cluster whose chunks cannot be listed.
type unreadableChunks struct{ operation.Reader }

func (unreadableChunks) ChunksFromNow(context.Context, topology.Meta, shardkey.Key, int) ([]topology.Chunk, error) {
	return nil, fault.New(fault.Unavailable, "not now")
}

// The plan cannot know the flag, but the check before the command finds it.
func TestUnreadableJumboFlagsAreAWarning(t *testing.T) {
	OnRig(t, Setup{Wrap: func(o *engine.Options) { o.Reader = unreadableChunks{o.Reader} }}, func(r *Rig) {
		r.setJumboFlag(true)
		p := r.planMove()
		if c := checkOf(p, "jumbo"); c.Verdict != actions.Warn || c.Text.Code != "jumbo.unread" || c.Source.Code != "sweep" {
			r.Errorf("%+v", c)
		}
		run := r.WaitEnd(r.Start(p).ID)
		if run.State != engine.Refused || !slices.Equal(changedFields(run.Steps[0].Changed), []string{"jumbo"}) || len(r.Sent(run.ID)) != 0 {
			r.Errorf("%s %v %+v", run.State, run.Why, run.Steps[0].Changed)
		}
	})
}
