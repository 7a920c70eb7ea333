package enginetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

func TestMoveAlreadyMadeBySomebodyElseIsNotSent(t *testing.T) {
	OnCheckedRig(t, Setup{}, func(r *Rig, _ *RecordChecker) {
		p := r.planMove()
		r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Err: simcluster.Fail(117)})
		id := r.Start(p).ID
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Waiting })
		r.moveByOther(0, 10, "shard-rs-2")
		run := r.WaitEnd(id)
		last := run.Steps[len(run.Steps)-1]
		expect.That(r, run.State == engine.Succeeded && last.Already == engine.ByOther && len(r.Sent(id)) == 1,
			"%s, done by %q, %d sent", run.State, last.Already, len(r.Sent(id)))
	})
}

// A shard that takes part in another migration refuses at once. The step is tried
// again, with an intent of its own, as soon as that migration has ended.
func TestMoveWaitsForAConflictingMigration(t *testing.T) {
	OnCheckedRig(t, Setup{}, func(r *Rig, _ *RecordChecker) {
		p := r.planMove()
		rule, moved := r.migrationOfOther()
		id := r.Start(p).ID
		waiting := r.Wait(id, func(run engine.Run) bool {
			return run.State == engine.Waiting && run.Steps[len(run.Steps)-1].State == engine.Waiting
		})
		time.Sleep(3 * time.Minute)
		waiting = r.runNow(id)
		w := waiting.Steps[len(waiting.Steps)-1].Backoff
		if w == nil || w.Obstacle != operation.ObstacleMigration || w.What.Args()["ns"] != string(NS) || w.What.Args()["to"] != "shard-rs-3" {
			r.Fatalf("%+v", w)
		}
		expect.Equal(r, w.Until.Sub(w.Since), 15*time.Minute, "the time until it gives up")
		tries := len(waiting.Steps)
		rule.Remove()
		<-moved
		run := r.WaitEnd(id)
		r.CheckSentOnce(run)
		intents, err := r.handle.Intents(r.Context(), id)
		r.Must(err)
		if run.State != engine.Succeeded || len(run.Steps) != tries || len(r.Sent(id)) != len(intents) {
			r.Errorf("%s in %d steps (%d while waiting), %d sent with %d intents", run.State, len(run.Steps), tries, len(r.Sent(id)), len(intents))
		}
	})
}

func TestStepGivesUpAfterAQuarterOfAnHour(t *testing.T) {
	for name, obstruct := range map[string]func(*Rig) (end func()){
		"a migration that does not end": func(r *Rig) func() {
			rule, moved := r.migrationOfOther()
			return func() { rule.Remove(); <-moved }
		},
		"a lock, tried hundreds of times": func(r *Rig) func() {
			rule := simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Err: simcluster.Fail(46), Times: -1}
			return r.Sim.Faults().Add(rule).Remove
		},
	} {
		if testing.Short() && strings.HasPrefix(name, "a lock") {
			continue // each try is written down with all before it
		}
		OnCheckedRig(t, Setup{}, func(r *Rig, _ *RecordChecker) {
			p := r.planMove()
			defer obstruct(r)()
			begun := time.Now()
			run := r.WaitEnd(r.Start(p).ID)
			if took := time.Since(begun); run.State != engine.Failed || run.Why.Code != "step.gaveUp" || took < 15*time.Minute ||
				took > 16*time.Minute {
				r.Errorf("%s: %s %v after %s", name, run.State, run.Why, took)
			}
			r.CheckSentOnce(run)
		})
	}
}

// migrationOfOther lets another client move a chunk of NS. It copies until the rule is removed, and moved is closed at
// its end.
func (r *Rig) migrationOfOther() (rule *simcluster.Planted, moved chan struct{}) {
	r.Helper()
	rule = r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Cloned, Hold: true,
		Match: func(cmd bson.Raw) bool { return cmd.Lookup("comment").Type == 0 }})
	moved = make(chan struct{})
	go func() {
		defer close(moved)
		r.moveByOtherOverNetwork(20, 30, "shard-rs-3")
	}()
	<-rule.Reached()
	return rule, moved
}

// A shard cannot take back a range whose documents it still has to delete. The plan
// says so, and the run waits without keeping the shards busy all the time.
func TestMoveBackWaitsUntilOrphanedDocumentsAreDeleted(t *testing.T) {
	OnCheckedRig(t, Setup{}, func(r *Rig, _ *RecordChecker) {
		r.moveByOther(0, 10, "shard-rs-2")
		away := time.Now()
		r.Must(r.Watcher.Refresh(r.Context()))
		p := r.Plan(actions.MoveChunk, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-1"})
		foreseen := false
		for _, c := range p.Checks {
			foreseen = foreseen || c.ID == "cleanup" && c.Verdict == actions.Warn && c.Text.Args()["until"] != ""
		}
		expect.That(r, foreseen && !p.Blocked(), "the plan does not foresee it: %+v", p.Checks)
		id := r.Start(p).ID
		waiting := r.Wait(id, func(run engine.Run) bool { return run.State == engine.Waiting })
		if w := waiting.Steps[len(waiting.Steps)-1].Backoff; w == nil || w.Obstacle != operation.ObstacleOrphans ||
			!w.Until.After(away.Add(15*time.Minute)) {
			r.Errorf("%+v", w)
		}
		run := r.WaitEnd(id)
		if took := time.Since(away); run.State != engine.Succeeded || took < 15*time.Minute || took > 20*time.Minute {
			r.Errorf("%s %v after %s", run.State, run.Why, took)
		}
		if n := len(r.Sent(id)); n > 10 {
			r.Errorf("%d tries", n)
		}
		r.CheckSentOnce(run)
	})
}

// splitWhenSent splits NS at a key as another client, right before the cluster carries out a command of ours.
func (r *Rig) splitWhenSent(command string, at int) {
	r.Sim.Faults().Add(simcluster.Rule{Command: command, At: simcluster.Received, Do: func(context.Context, *simcluster.Cluster) error {
		r.tryCommand("admin", bson.D{{Key: "split", Value: NS}, {Key: "middle", Value: P(at)}})
		return nil
	}})
}

// On 8.0.10 a range that crosses a chunk's bound hangs until the time limit of its command. The limit fits the work, so
// that the shards are free again soon, and what came of it is read.
func TestARangeThatIsSplitWhileItIsSentDoesNotHangForLong(t *testing.T) {
	for _, test := range []struct {
		name, command string
		part          [2]bson.Raw
		longest       time.Duration
	}{
		{"a part", "moveRange", [2]bson.Raw{P(2), P(8)}, 10 * time.Minute},
		{"a whole chunk, which is named by its bounds", "moveChunk", [2]bson.Raw{}, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			OnCheckedRig(t, Setup{Sim: simcluster.Options{ServerVersion: "8.0"}}, func(r *Rig, _ *RecordChecker) {
				p := r.Plan(actions.MoveChunk, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)},
					Min: test.part[0], Max: test.part[1], To: "shard-rs-2"})
				r.splitWhenSent(test.command, 5)
				begun := time.Now()
				id := r.Start(p).ID
				run := r.WaitEnd(id)
				if run.State == engine.Succeeded || time.Since(begun) > test.longest || len(r.Sent(id)) != 1 {
					r.Errorf("%s %v after %s, %d sent", run.State, run.Why, time.Since(begun), len(r.Sent(id)))
				}
				expect.That(r, len(run.Steps[len(run.Steps)-1].Changed) != 0, "what changed is not shown: %+v", run.Steps)
				r.CheckSentOnce(run)
				r.succeeds(r.PlanAndRun(actions.MoveChunk, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(5)}, To: "shard-rs-2"}).ID)
			})
		})
	}
}

// The outcome of a move whose answer was lost is known soon after the migration has ended, not minutes later.
func TestALostAnswerIsSettledSoonAfterTheMigrationHasEnded(t *testing.T) {
	for _, version := range []string{"5.0", "8.0"} {
		OnCheckedRig(t, Setup{Sim: simcluster.Options{ServerVersion: version}}, func(r *Rig, _ *RecordChecker) {
			p := r.planMove()
			r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Cut: true, GoOn: true})
			r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Cloned, Delay: 10 * time.Minute, Err: simcluster.Fail(96)})
			begun := time.Now()
			id := r.Start(p).ID
			run := r.WaitEnd(id)
			if run.State != engine.Failed || !run.Resolved || time.Since(begun) > 10*time.Minute+15*time.Second {
				r.Errorf("%s: %s %v after %s", version, run.State, run.Why, time.Since(begun))
			}
			r.CheckSentOnce(run)
		})
	}
}

// A move is done when it is committed and proven. Nobody waits for the deletion of the old documents who does not need
// the donor.
func TestAMoveIsDoneBeforeItsOldDocumentsAreDeleted(t *testing.T) {
	OnCheckedRig(t, Setup{}, func(r *Rig, _ *RecordChecker) {
		p := r.planMove()
		id, rule := r.startAndHold(p, simcluster.Rule{Command: "moveChunk", At: simcluster.Cleaning})
		committed := time.Now()
		run := r.WaitEnd(id)
		last := run.Steps[len(run.Steps)-1]
		if run.State != engine.Succeeded || time.Since(committed) > time.Minute || last.Why.Code != "step.deletes" || last.Answered {
			r.Fatalf("%s %v after %s: %+v", run.State, run.Why, time.Since(committed), last)
		}
		r.succeeds(r.PlanAndRun(actions.BalanceCollection, actions.Args{NS: NS, On: new(bool)}).ID)
		rule.Remove()
		time.Sleep(time.Minute)
		undo := r.WaitEnd(r.Start(r.undo(id)).ID) // the clean-up of the donor is known to be done
		expect.That(r, undo.State == engine.Succeeded && time.Since(committed) <= 10*time.Minute,
			"the undo: %s %v after %s", undo.State, undo.Why, time.Since(committed))
		r.CheckSentOnce(run)
	})
}

// The next move with the same donor waits for the deletion and is not refused because of it.
func TestTheNextMoveOfADonorWaitsForItsDeletion(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Cleaning, Delay: 5 * time.Minute})
		begun, moves, waited := time.Now(), 0, false
		id := r.Start(p).ID
		r.Wait(id, func(run engine.Run) bool {
			for _, s := range run.Steps {
				waited = waited || s.State == engine.Waiting && s.Backoff != nil && s.Backoff.Obstacle == actions.ObstacleDeletion
			}
			return waited || !run.State.Open()
		})
		run := r.WaitEnd(id)
		for _, s := range run.Steps {
			if s.Migrates() {
				moves++
			}
		}
		if took := time.Since(begun); run.State != engine.Succeeded || !waited || took < 5*time.Minute || took > 6*time.Minute {
			r.Errorf("%s %v after %s, waited for the deletion: %v", run.State, run.Why, took, waited)
		}
		if n := len(r.Sent(id)); n != len(run.Steps) || moves < 2 {
			r.Errorf("%d commands of %d steps, of them %d moves", n, len(run.Steps), moves)
		}
		r.CheckSentOnce(run)
	})
}

// An open cursor of a program holds up the deletion. The move is done all the same, the run names the shard that it
// still deletes on, and what holds it up is found there.
func TestAMoveIsDoneWhileACursorHoldsUpItsDeletion(t *testing.T) {
	OnCheckedRig(t, Setup{}, func(r *Rig, _ *RecordChecker) {
		r.tryCommand("app", bson.D{{Key: "insert", Value: "users"}, {Key: "documents", Value: bson.A{
			bson.D{{Key: "p", Value: 1}}, bson.D{{Key: "p", Value: 2}}, bson.D{{Key: "p", Value: 3}}}}})
		p := r.planMove()
		session := bson.D{{Key: "id", Value: bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte("0123456789abcdef")}}}
		r.tryCommand("app", bson.D{{Key: "find", Value: "users"}, {Key: "batchSize", Value: 1}, {Key: "lsid", Value: session}})
		begun := time.Now()
		id := r.Start(p).ID
		run := r.WaitEnd(id)
		waits := run.AwaitedDeletions()
		if run.State != engine.Succeeded || time.Since(begun) > time.Minute || len(waits) != 1 || waits[0].NS != NS {
			r.Fatalf("%s %v after %s, it waits for %+v", run.State, run.Why, time.Since(begun), waits)
		}
		standing := func() bool {
			open, _, err := r.Client.OpenCursors(r.Context())
			r.Must(err)
			return slices.ContainsFunc(open, func(k topology.OpenCursor) bool { return k.Shard == waits[0].Shard && k.NS == NS })
		}
		expect.That(r, standing(), "on %s nothing is open", waits[0].Shard)
		undo := r.undo(id)
		r.Admin(bson.D{{Key: "killSessions", Value: bson.A{session}}})
		if time.Sleep(time.Minute); standing() {
			r.Error("the cursor stands after its session was killed")
		}
		if back := r.WaitEnd(r.Start(undo).ID); back.State != engine.Succeeded { // what it left is deleted
			r.Errorf("the undo: %s %v", back.State, back.Why)
		}
	})
}

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
				must.That(r, p.Steps[0].Wait && p.Undo.From.IsZero(), "waits %v, undo from %s", p.Steps[0].Wait, p.Undo.From)
				run := r.WaitEnd(r.Start(p).ID)
				between(r)
				undo := r.undo(run.ID)
				if c := cleanupCheck(r, undo); c.Verdict != actions.Pass || c.Text.Code != "cleanup.done" || c.Text.Args()["shard"] != "shard-rs-1" {
					r.Errorf("%+v", c)
				}
				r.succeeds(r.Start(undo).ID)
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
		r.succeeds(r.PlanAndRun(actions.MoveChunk, moveFirstChunk).ID)
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
		must.That(r, run.State == engine.Succeeded && !run.Steps[0].Answered,
			"%s, answered %v", run.State, run.Steps[0].Answered)
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
