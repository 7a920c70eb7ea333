package enginetest

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
)

// moveFirstChunk moves the chunk [0, 10) to shard-rs-2.
var moveFirstChunk = actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-2"}

// cleanupCheck returns a plan's check of pending clean-ups.
func cleanupCheck(r *Rig, p actions.Plan) actions.Check {
	r.Helper()
	for _, c := range p.Checks {
		if c.ID == "cleanup" {
			return c
		}
	}
	r.Fatal("no check of clean-ups")
	return actions.Check{}
}

func TestMoveThatWaitedForCleanUpCanBeUndoneAtOnce(t *testing.T) {
	for name, between := range map[string]func(*Rig){"at once": func(*Rig) {}, "by the next process": (*Rig).Restart} {
		t.Run(name, func(t *testing.T) {
			OnRig(t, Setup{}, func(r *Rig) {
				p := r.planMove()
				if !p.Steps[0].Wait || !p.Undo.From.IsZero() {
					r.Fatalf("waits %v, undo from %s", p.Steps[0].Wait, p.Undo.From)
				}
				run := r.WaitEnd(r.Start(p).ID)
				between(r)
				undo := r.undo(run.ID)
				if c := cleanupCheck(r, undo); c.Verdict != actions.Pass || c.Text.Code != "cleanup.done" || c.Text.Args()["shard"] != "shard-rs-1" {
					r.Errorf("%+v", c)
				}
				if back := r.WaitEnd(r.Start(undo).ID); back.State != engine.Succeeded {
					r.Errorf("%s %v: %+v", back.State, back.Why, back.Steps)
				}
			})
		})
	}
}

func TestCleanUpAfterAMoveByOthersIsPendingUntilItsTimeIsOver(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		moved := time.Now()
		r.moveByOther(0, 10, "shard-rs-2")
		r.checkCleanupPending(moved)
	})
}

// The range is moved away again by another client that does not wait for the
// clean-up.
func TestCleanUpOfOurMoveDoesNotCoverALaterMoveByOthers(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		if run := r.PlanAndRun(actions.MoveChunk, moveFirstChunk); run.State != engine.Succeeded {
			r.Fatalf("%s", run.State)
		}
		time.Sleep(time.Minute)
		for _, to := range []string{"shard-rs-1", "shard-rs-3"} {
			r.moveByOther(0, 10, to)
		}
		r.checkCleanupPending(time.Now())
	})
}

// When the connection is cut, it is unknown whether the server finished the
// clean-up.
func TestCleanUpAfterAnUnansweredMoveIsPending(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		c := caseNamed("move")
		r.Sim.Faults().Add(cutAnswer(c.Command))
		run := r.PlanAndRun(c.Kind, moveFirstChunk)
		if run.State != engine.Succeeded || run.Steps[0].Answered {
			r.Fatalf("%s, answered %v", run.State, run.Steps[0].Answered)
		}
		r.checkCleanupPending(run.Started)
	})
}

// checkCleanupPending checks that a plan to move the range back warns, and says from
// when the move can succeed.
func (r *Rig) checkCleanupPending(since time.Time) {
	r.Helper()
	back := moveFirstChunk
	back.To = "shard-rs-1"
	p := r.Plan(actions.MoveChunk, back)
	c := cleanupCheck(r, p)
	until, err := time.Parse(time.RFC3339, c.Text.Args()["until"])
	if c.Verdict != actions.Warn || c.Text.Code != "cleanup.pendingSince" || err != nil || until.Sub(since) < 14*time.Minute ||
		until.Sub(since) > 16*time.Minute {
		r.Errorf("%+v", c)
	}
	time.Sleep(time.Until(until) + time.Minute)
	if c = cleanupCheck(r, r.Plan(actions.MoveChunk, back)); c.Verdict != actions.Pass {
		r.Errorf("after its time: %+v", c)
	}
}
