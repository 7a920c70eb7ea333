package enginetest

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/simcluster"
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
		if run.State != engine.Succeeded || last.Already != engine.ByOther || len(r.Sent(id)) != 1 {
			r.Errorf("%s, done by %q, %d sent", run.State, last.Already, len(r.Sent(id)))
		}
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
		if got := w.Until.Sub(w.Since); got != 15*time.Minute {
			r.Errorf("gives up after %s", got)
		}
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
		if !foreseen || p.Blocked() {
			r.Errorf("the plan does not foresee it: %+v", p.Checks)
		}
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
