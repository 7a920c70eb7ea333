package enginetest

import (
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

func TestEveryCommandIsSentAsPlannedProvenAndUndone(t *testing.T) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { OnRig(t, c.Setup(), func(r *Rig) { r.runAndUndo(c) }) })
	}
}

func (r *Rig) runAndUndo(c Case) {
	r.Helper()
	p := c.Plan(r)
	before := r.ReadState().String()
	run := r.WaitEnd(r.Start(p).ID)
	must.That(r, run.State == engine.Succeeded && !run.Resolved, "%s %v: %+v", run.State, run.Why, run.Steps)
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
		if len(s.Proven) == 0 || s.Sent.IsZero() || s.Ended.Before(s.Sent) || s.State != engine.Succeeded || s.Resolved || s.Why.Code != "" {
			r.Errorf("no proof, or flagged: %+v", s)
		}
	}
	for _, f := range run.Steps[len(run.Steps)-1].Proof {
		if now := operation.Fields(r.Watcher.Table(), f); c.inChangelog() && len(f.Against(now)) > 0 {
			r.Errorf("it has ended, and the table does not show it yet: %v", now)
		}
	}
	if c.NoUndo {
		return
	}
	time.Sleep(20 * time.Minute) // for the donor to clean up
	undo := r.undo(run.ID)
	back := r.WaitEnd(r.Start(undo).ID)
	must.That(r, back.State == engine.Succeeded && !undo.Undo.Possible && undo.UndoOf == run.ID && !back.CanUndo(),
		"undo is %s %v, can be undone %v: %+v", back.State, back.Why, back.CanUndo(), back.Steps)
	// The balancer moves chunks while it is on.
	if now := r.ReadState().String(); now != before && c.Kind != actions.BalancerOn && c.Kind != actions.BalancerOff {
		r.Errorf("before:\n%safter:\n%s", before, now)
	}
	r.checkReported(back)
	if was := r.runNow(run.ID); was.State != engine.Undone || was.UndoneBy != back.ID {
		r.Errorf("%s %s", was.State, was.UndoneBy)
	}
	expect.That(r, must.Err(r.Engine.Undo(r.Context(), Anna, run.ID, "")) != nil, "undone twice")
	expect.Contains(r, fault.Text(r.undoRefusal(back)), "make the plan of that run again", "the undo of an undo")
}

func TestRefusedCommandIsReportedAndChangesNothing(t *testing.T) {
	onCases(t, 2, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Err: simcluster.Fail(20)})
		run := r.WaitEnd(r.Start(p).ID)
		expect.That(r, run.State == engine.Failed && run.Steps[0].Error != "" && len(run.Steps[0].Changed) != 0,
			"%s %+v", run.State, run.Steps[0])
		r.checkReported(run)
	})
}

// A server in between refuses a command that it has passed on.
func TestRefusedCommandThatStillRunsHasNotFailed(t *testing.T) {
	c := caseNamed("split at a key")
	OnCheckedRig(t, c.Setup(), func(r *Rig, _ *RecordChecker) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Err: simcluster.Fail(46), GoOn: true})
		id, rule := r.startAndHold(p, simcluster.Rule{Command: c.Command, At: simcluster.Committing})
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
			r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Replying,
				Do: simcluster.Other("admin", other), Patience: time.Minute})
			run := r.WaitEnd(r.Start(p).ID)
			expect.That(r, run.State == engine.Failed && len(run.Steps[0].Changed) != 0,
				"%s: %s %+v", c.Name, run.State, run.Steps[0])
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
		id, rule := r.startAndHold(p, simcluster.Rule{Command: c.Command, At: simcluster.CaughtUp})
		time.Sleep(5 * time.Second)
		run := r.runNow(id)
		if got := run.Steps[0].Progress; got.Total != 6 || got.Done == 0 || len(run.Steps[0].Events) == 0 {
			r.Errorf("%+v %d events", got, len(run.Steps[0].Events))
		}
		rule.Remove()
		r.checkReported(r.WaitEnd(id))
	})
}

// undoRefusal returns the error of undoing a run that cannot be undone.
func (r *Rig) undoRefusal(run engine.Run) error {
	r.Helper()
	_, err := r.Engine.Undo(r.Context(), Anna, run.ID, "")
	expect.Equal(r, fault.Of(err), fault.Conflict, "undo: %v", err)
	return err
}

func TestUndoOfAChangedRangeReportsWhatChanged(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		run := r.PlanAndRun(actions.Split, actions.Args{NS: NS, At: P(5)})
		r.moveByOtherCleanly(5, 10, "shard-rs-3")
		time.Sleep(time.Minute)
		err := r.undoRefusal(run)
		var differs *engine.ChangedError
		must.That(r, errors.As(err, &differs) && len(differs.Differences) == 1, "%v", err)
		d := differs.Differences[0]
		if d.Field != "shards" || d.Want != "shard-rs-1" || d.Got != "shard-rs-1,shard-rs-3" || d.Fact.NS != NS {
			r.Errorf("%+v", d)
		}
	})
}
