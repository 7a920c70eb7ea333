package enginetest

import (
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

func TestEveryCommandIsSentAsPlannedProvenAndUndone(t *testing.T) {
	all := slices.Concat(splitAndBalancerOff, partsAndWindow, mergeAndBalancing, moveAndBalancerOn, collectionSettings)
	onCases(t, all, func(r *Rig, c Case) {
		p := c.Plan(r)
		run := r.WaitEnd(r.Start(p).ID)
		if run.State != engine.Succeeded || run.Resolved {
			r.Fatalf("%s %v: %+v", run.State, run.Why, run.Steps)
		}
		r.checkReported(run)
		sent, waits := r.Sent(run.ID), 0
		for _, s := range p.Steps {
			if !s.Sends() {
				waits++
			}
		}
		if len(sent) != len(p.Commands)-waits || sent[len(sent)-1].Name != c.Command || !isPrefix(p.Commands[0].Doc, sent[0].Body) ||
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
		time.Sleep(20 * time.Minute) // for the donor to clean up
		undo, err := r.Engine.Undo(r.Context(), Anna, run.ID, "")
		r.Must(err)
		back := r.WaitEnd(r.Start(undo).ID)
		if back.State != engine.Succeeded {
			r.Fatalf("undo is %s %v: %+v", back.State, back.Why, back.Steps)
		}
		r.checkReported(back)
		if was, err := r.Engine.RunByID(r.Context(), run.ID); err != nil || was.State != engine.Undone || was.UndoneBy != back.ID {
			r.Errorf("%v %s %s", err, was.State, was.UndoneBy)
		}
		if _, err := r.Engine.Undo(r.Context(), Anna, run.ID, ""); err == nil {
			r.Error("undone twice")
		}
	})
}

func TestUndisturbedRunsAreNotFlagged(t *testing.T) {
	onCases(t, moveAndBalancerOn, func(r *Rig, c Case) {
		run := r.WaitEnd(r.Start(c.Plan(r)).ID)
		for _, s := range run.Steps {
			if s.State != engine.Succeeded || s.Resolved || s.Why.Code != "" {
				r.Errorf("%s, resolved: %v, %v", s.State, s.Resolved, s.Why)
			}
		}
	})
}

func TestRefusedCommandIsReportedAndChangesNothing(t *testing.T) {
	onCases(t, mergeAndBalancing, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Err: simcluster.Fail(20)})
		run := r.WaitEnd(r.Start(p).ID)
		if run.State != engine.Failed || run.Steps[0].Error == "" || len(run.Steps[0].Changed) == 0 {
			r.Errorf("%s %+v", run.State, run.Steps[0])
		}
		r.checkReported(run)
	})
}

func TestConnectionCutBeforeTheEffectEndsAsFailed(t *testing.T) {
	onCases(t, splitAndBalancerOff, func(r *Rig, c Case) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Cut: true})
		id := r.Start(p).ID
		<-rule.Reached()
		healed := time.Now()
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Unknown })
		run := r.WaitEnd(id)
		if took := time.Since(healed); run.State != engine.Failed || !run.Resolved && c.Command != "balancerStop" || took > time.Minute {
			r.Errorf("%s, resolved %v, after %s: %+v", run.State, run.Resolved, took, run.Steps[0].Why)
		}
		r.checkReported(run)
	})
}

func TestConnectionCutAfterTheEffectEndsAsSucceeded(t *testing.T) {
	onCases(t, mergeAndBalancing, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Replying, Cut: true})
		run := r.WaitEnd(r.Start(p).ID)
		if run.State != engine.Succeeded {
			r.Errorf("%s: %+v", run.State, run.Steps[0])
		}
		r.checkReported(run)
	})
}

func TestErrorAfterTheEffectIsNotTrusted(t *testing.T) {
	for _, code := range []int32{189, 46, 117, 150, 13388}[:sampleSize(1, 5, 5)] {
		onCases(t, mergeAndBalancing, func(r *Rig, c Case) {
			p := c.Plan(r)
			r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Replying, Err: simcluster.Fail(code)})
			r.checkReported(r.WaitEnd(r.Start(p).ID))
		})
	}
}

func TestCommandDeliveredTwiceCountsOnce(t *testing.T) {
	onCases(t, mergeAndBalancing, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Twice: true})
		r.checkReported(r.WaitEnd(r.Start(p).ID))
	})
}

// A server in between gives up while the command continues behind it.
func TestRefusalByAServerInBetweenIsNotTrusted(t *testing.T) {
	onCases(t, partsAndWindow, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Err: simcluster.Fail(117), GoOn: true})
		r.checkReported(r.WaitEnd(r.Start(p).ID))
	})
}

// A server in between refuses a command that it has passed on.
func TestRefusedCommandThatStillRunsHasNotFailed(t *testing.T) {
	c := caseNamed("split at a key")
	OnCheckedRig(t, c.Setup(), func(r *Rig, _ *RecordChecker) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Err: simcluster.Fail(46), GoOn: true})
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Committing, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		time.Sleep(20 * time.Second)
		rule.Remove()
		if run := r.WaitEnd(id); run.State != engine.Succeeded || !run.Resolved {
			r.Errorf("%s %v", run.State, run.Why)
		}
	})
}

// The server acknowledges the command, and another client reverts it before the
// proof is read.
func TestEffectRevertedAtOnceIsNotASuccess(t *testing.T) {
	for name, other := range map[string]bson.D{
		"split at a key":  {{Key: "mergeChunks", Value: NS}, {Key: "bounds", Value: bson.A{P(0), P(10)}}},
		"move":            {{Key: "moveChunk", Value: NS}, {Key: "bounds", Value: bson.A{P(0), P(10)}}, {Key: "to", Value: "shard-rs-3"}},
		"zone, add shard": {{Key: "removeShardFromZone", Value: "shard-rs-2"}, {Key: "zone", Value: "eu"}},
	} {
		c := caseNamed(name)
		OnRig(t, c.Setup(), func(r *Rig) {
			p := c.Plan(r)
			r.Sim.Faults().Add(
				simcluster.Rule{Command: c.Command, At: simcluster.Replying, Do: simcluster.Other("admin", other), Patience: time.Minute},
			)
			run := r.WaitEnd(r.Start(p).ID)
			if run.State != engine.Failed || len(run.Steps[0].Changed) == 0 {
				r.Errorf("%s: %s %+v", c.Name, run.State, run.Steps[0])
			}
			r.checkReported(run)
			if want := "step.changedSince"; name != "zone, add shard" && run.Why.Code != want {
				r.Errorf("%s: %v, want %s", c.Name, run.Why, want)
			}
		})
	}
}

// Another client moves the chunk between the last check and the command. The command
// has its effect, and the changelog shows the other move.
func TestConcurrentMoveByAnotherClientIsFlagged(t *testing.T) {
	c := caseNamed("move")
	OnCheckedRig(t, c.Setup(), func(r *Rig, _ *RecordChecker) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Patience: time.Minute,
			Do: simcluster.Move(string(NS), keyDoc(0), "shard-rs-3")})
		run := r.WaitEnd(r.Start(p).ID)
		if s := run.Steps[0]; run.State != engine.Succeeded || s.Why.Code != "step.raced" {
			r.Errorf("%s %v", run.State, s.Why)
		}
	})
}

func TestRunningMigrationShowsItsProgress(t *testing.T) {
	c := caseNamed("move")
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.CaughtUp, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		time.Sleep(5 * time.Second)
		run, err := r.Engine.RunByID(r.Context(), id)
		r.Must(err)
		if got := run.Steps[0].Progress; got.Total != 6 || got.Done == 0 || len(run.Steps[0].Events) == 0 {
			r.Errorf("%+v %d events", got, len(run.Steps[0].Events))
		}
		rule.Remove()
		r.checkReported(r.WaitEnd(id))
	})
}
