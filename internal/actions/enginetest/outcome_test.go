package enginetest

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

// onCases runs a test on every case; when time is short on some, others in every
// test.
func onCases(t *testing.T, test func(*Rig, Case)) {
	for i, c := range Cases() {
		if testing.Short() && i%4 != len(t.Name())%4 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) { OnRig(t, c.Setup(), func(r *Rig) { test(r, c) }) })
	}
}

// proofOf is the truth about a run's only step, read past the engine.
func (r *Rig) proofOf(run engine.Run) bool {
	r.Helper()
	return r.Holds(run.Steps[len(run.Steps)-1].Proof)
}

// honest fails the test when a run says what the cluster does not.
func (r *Rig) honest(run engine.Run) {
	r.Helper()
	r.SentOnce(run)
	if so := r.proofOf(run); so != (run.State == engine.Succeeded) {
		r.Errorf("the run says %s (%s: %s), the effect is there: %v", run.State, run.Why.Code, run.Steps[len(run.Steps)-1].Error, so)
	}
}

func TestEveryCommandIsSentAsPlannedProvenAndUndone(t *testing.T) {
	all := func(test func(*Rig, Case)) {
		for _, c := range Cases() {
			t.Run(c.Name, func(t *testing.T) { OnRig(t, c.Setup(), func(r *Rig) { test(r, c) }) })
		}
	}
	all(func(r *Rig, c Case) {
		p := c.Plan(r)
		run := r.Ended(r.Start(p).ID)
		if run.State != engine.Succeeded || run.Resolved {
			r.Fatalf("%s %v: %+v", run.State, run.Why, run.Steps)
		}
		r.honest(run)
		sent := r.Sent(run.ID)
		if len(sent) != len(p.Commands) || sent[len(sent)-1].Name != c.Command || !isPrefix(p.Commands[0].Doc, sent[0].Body) ||
			sent[0].DB != p.Commands[0].DB {
			r.Fatalf("planned %v, sent %v", p.Commands, sent)
		}
		for _, s := range run.Steps {
			if len(s.Proven) == 0 || s.Sent.IsZero() || s.Ended.Before(s.Sent) {
				r.Errorf("no proof: %+v", s)
			}
		}
		if c.NoUndo {
			return
		}
		time.Sleep(20 * time.Minute) // until the donor has cleaned up
		undo, err := r.Engine.Undo(r.Context(), Anna, run.ID, "")
		r.Must(err)
		back := r.Ended(r.Start(undo).ID)
		if back.State != engine.Succeeded {
			r.Fatalf("undo is %s %v: %+v", back.State, back.Why, back.Steps)
		}
		r.honest(back)
		if was, err := r.Engine.RunByID(r.Context(), run.ID); err != nil || was.State != engine.Undone || was.UndoneBy != back.ID {
			r.Errorf("%v %s %s", err, was.State, was.UndoneBy)
		}
		if _, err := r.Engine.Undo(r.Context(), Anna, run.ID, ""); err == nil {
			r.Error("undone twice")
		}
	})
}

func TestARefusalIsToldAndNothingHasChanged(t *testing.T) {
	onCases(t, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Err: simcluster.Fail(20)})
		run := r.Ended(r.Start(p).ID)
		if run.State != engine.Failed || run.Steps[0].Error == "" || len(run.Steps[0].Changed) == 0 {
			r.Errorf("%s %+v", run.State, run.Steps[0])
		}
		r.honest(run)
	})
}

func TestACutBeforeTheEffectIsSettledAsFailed(t *testing.T) {
	onCases(t, func(r *Rig, c Case) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Cut: true})
		id := r.Start(p).ID
		<-rule.Reached()
		healed := time.Now()
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Unknown })
		run := r.Ended(id)
		if took := time.Since(healed); run.State != engine.Failed || !run.Resolved && c.Command != "balancerStop" || took > time.Minute {
			r.Errorf("%s, resolved %v, after %s: %+v", run.State, run.Resolved, took, run.Steps[0].Why)
		}
		r.honest(run)
	})
}

func TestACutAfterTheEffectIsSettledAsSucceeded(t *testing.T) {
	onCases(t, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Replying, Cut: true})
		run := r.Ended(r.Start(p).ID)
		if run.State != engine.Succeeded {
			r.Errorf("%s: %+v", run.State, run.Steps[0])
		}
		r.honest(run)
	})
}

func TestAnErrorAfterTheEffectIsNotBelieved(t *testing.T) {
	for _, code := range []int32{189, 46, 117, 150, 13388}[:much(1, 5, 5)] {
		onCases(t, func(r *Rig, c Case) {
			p := c.Plan(r)
			r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Replying, Err: simcluster.Fail(code)})
			r.honest(r.Ended(r.Start(p).ID))
		})
	}
}

func TestACommandDeliveredTwiceIsOneCommand(t *testing.T) {
	onCases(t, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Twice: true})
		r.honest(r.Ended(r.Start(p).ID))
	})
}

// A server in between gives up while the command goes on behind it.
func TestARefusalOfAServerBetweenIsNotBelieved(t *testing.T) {
	onCases(t, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Err: simcluster.Fail(117), GoOn: true})
		r.honest(r.Ended(r.Start(p).ID))
	})
}

// The server says that it is done, and somebody else has taken it back by the
// time the proof is read.
func TestWhatWasTakenBackAtOnceIsNoSuccess(t *testing.T) {
	for i, other := range map[int]bson.D{
		0: {{Key: "mergeChunks", Value: NS}, {Key: "bounds", Value: bson.A{P(0), P(10)}}},
		3: {{Key: "moveChunk", Value: NS}, {Key: "bounds", Value: bson.A{P(0), P(10)}}, {Key: "to", Value: "shard-rs-3"}},
		7: {{Key: "removeShardFromZone", Value: "shard-rs-2"}, {Key: "zone", Value: "eu"}},
	} {
		c := Cases()[i]
		OnRig(t, c.Setup(), func(r *Rig) {
			p := c.Plan(r)
			r.Sim.Faults().Add(
				simcluster.Rule{Command: c.Command, At: simcluster.Replying, Do: simcluster.Other("admin", other), Patience: time.Minute},
			)
			run := r.Ended(r.Start(p).ID)
			if run.State != engine.Failed || len(run.Steps[0].Changed) == 0 {
				r.Errorf("%s: %s %+v", c.Name, run.State, run.Steps[0])
			}
			r.honest(run)
			if want := "step.changedSince"; i != 7 && run.Why.Code != want {
				r.Errorf("%s: %v, want %s", c.Name, run.Why, want)
			}
		})
	}
}
