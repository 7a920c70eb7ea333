package enginetest

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
)

var lowest = actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-2"}

// cleanupOf is what a plan says of pending clean-ups.
func cleanupOf(r *Rig, p actions.Plan) actions.Check {
	r.Helper()
	for _, c := range p.Checks {
		if c.ID == "cleanup" {
			return c
		}
	}
	r.Fatal("no check of clean-ups")
	return actions.Check{}
}

func TestAMoveThatWaitedForItsCleanUpIsUndoneAtOnceAlsoByTheNextProcess(t *testing.T) {
	for name, between := range map[string]func(*Rig){"at once": func(*Rig) {}, "by the next process": (*Rig).Restart} {
		t.Run(name, func(t *testing.T) {
			OnRig(t, Setup{}, func(r *Rig) {
				p := r.Plan(actions.MoveChunk, lowest)
				if !p.Steps[0].Wait || !p.Undo.From.IsZero() {
					r.Fatalf("waits %v, undo from %s", p.Steps[0].Wait, p.Undo.From)
				}
				run := r.Ended(r.Start(p).ID)
				between(r)
				undo, err := r.Engine.Undo(r.Context(), Anna, run.ID, "")
				r.Must(err)
				if c := cleanupOf(r, undo); c.Verdict != actions.Pass || c.Text.Code != "cleanup.done" || c.Text.Args()["shard"] != "shard-rs-1" {
					r.Errorf("%+v", c)
				}
				if back := r.Ended(r.Start(undo).ID); back.State != engine.Succeeded {
					r.Errorf("%s %v: %+v", back.State, back.Why, back.Steps)
				}
			})
		})
	}
}

func TestWhatOthersMovedIsPendingUntilItsTimeIsOver(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		moved := time.Now()
		r.Admin(bson.D{{Key: "moveChunk", Value: NS}, {Key: "bounds", Value: bson.A{P(0), P(10)}}, {Key: "to", Value: "shard-rs-2"}})
		r.stillPending(moved)
	})
}

// The range that we waited for is given away once more by somebody who did not
// wait.
func TestAMoveOfOursDoesNotVouchForALaterOneOfOthers(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		if run := r.Do(actions.MoveChunk, lowest); run.State != engine.Succeeded {
			r.Fatalf("%s", run.State)
		}
		time.Sleep(time.Minute)
		for _, to := range []string{"shard-rs-1", "shard-rs-3"} {
			r.Admin(bson.D{{Key: "moveChunk", Value: NS}, {Key: "bounds", Value: bson.A{P(0), P(10)}}, {Key: "to", Value: to}})
		}
		r.stillPending(time.Now())
	})
}

// A cut line leaves it open whether the server had finished to clean up.
func TestAMoveWithoutAnAnswerDoesNotVouchForItsCleanUp(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		c := Cases()[3]
		r.Sim.Faults().Add(cutAnswer(c.Command))
		run := r.Do(c.Kind, lowest)
		if run.State != engine.Succeeded || run.Steps[0].Answered {
			r.Fatalf("%s, answered %v", run.State, run.Steps[0].Answered)
		}
		r.stillPending(run.Started)
	})
}

// stillPending wants a plan that brings the range back to warn, and to say from
// when it works.
func (r *Rig) stillPending(since time.Time) {
	r.Helper()
	back := lowest
	back.To = "shard-rs-1"
	p := r.Plan(actions.MoveChunk, back)
	c := cleanupOf(r, p)
	until, err := time.Parse(time.RFC3339, c.Text.Args()["until"])
	if c.Verdict != actions.Warn || c.Text.Code != "cleanup.pendingSince" || err != nil || until.Sub(since) < 14*time.Minute ||
		until.Sub(since) > 16*time.Minute {
		r.Errorf("%+v", c)
	}
	time.Sleep(time.Until(until) + time.Minute)
	if c = cleanupOf(r, r.Plan(actions.MoveChunk, back)); c.Verdict != actions.Pass {
		r.Errorf("after its time: %+v", c)
	}
}
