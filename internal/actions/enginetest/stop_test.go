package enginetest

import (
	"strings"
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
	"shardboard/internal/topology"
)

func TestStopTakesEffectBeforeTheNextCommandAndSurvivesARestart(t *testing.T) {
	c := moveInThreeSteps()
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		must.That(r, len(p.Steps) >= 3, "%d steps", len(p.Steps))
		id, rule := r.startAndHold(p, simcluster.Rule{Command: "split", At: simcluster.Committing})
		run, err := r.Engine.Stop(r.Context(), Bert, id)
		r.Must(err)
		expect.That(r, run.InFlight() == 0 && run.StopBy == Bert.ID,
			"in flight: %d, stopped by %q", run.InFlight(), run.StopBy)
		rule.Remove()
		freed := time.Now()
		run = r.WaitEnd(id)
		if run.State != engine.Stopped || run.Steps[0].State != engine.Succeeded || run.Steps[1].State != engine.Planned || len(r.Sent(id)) != 1 {
			r.Errorf("%s %v, steps %s %s, %d sent", run.State, run.Why, run.Steps[0].State, run.Steps[1].State, len(r.Sent(id)))
		}
		expect.That(r, time.Since(freed) <= time.Second, "it took %s", time.Since(freed))
		r.Restart()
		time.Sleep(time.Hour)
		if run := r.runNow(id); run.State != engine.Stopped || len(r.Sent(id)) != 1 {
			r.Errorf("after a restart: %v %s", err, run.State)
		}
		undo := r.undo(id)
		r.succeeds(r.Start(undo).ID)
	})
}

// A stop that cannot be written down is obeyed all the same, and whoever asked for it is told.
func TestStopIsObeyedWhenItCannotBeWrittenDown(t *testing.T) {
	for says, fail := range map[string]func(*Rig){
		"The disk is full":                        func(r *Rig) { r.Disk.Fail(FailNth("save", 1, true), nil) },
		"audit record: The disk is full":          func(r *Rig) { r.Disk.Fail(FailNth("audit", 1, true), nil) },
		"The data directory was moved or deleted": func(r *Rig) { r.handle.RefuseWrites(errLost) },
	} {
		c := moveInThreeSteps()
		OnRig(t, c.Setup(), func(r *Rig) {
			id, rule := r.startAndHold(c.Plan(r), simcluster.Rule{Command: "split", At: simcluster.Committing})
			fail(r)
			_, err := r.Engine.Stop(r.Context(), Bert, id)
			if text := fault.Text(err); fault.Of(err) != fault.Unavailable || !strings.Contains(text, "The run is stopped") ||
				!strings.Contains(text, says) {
				r.Errorf("%s: %v", says, err)
			}
			rule.Remove()
			time.Sleep(time.Minute)
			r.Disk.Fail(nil, nil)
			r.handle.RefuseWrites(nil)
			if run := r.WaitEnd(id); run.State != engine.Stopped || run.StopBy != Bert.ID || len(r.Sent(id)) != 1 {
				r.Errorf("%s: %s by %q, %d sent", says, run.State, run.StopBy, len(r.Sent(id)))
			}
		})
	}
}

func TestStopDuringTheLastCheckIsObeyed(t *testing.T) {
	onCases(t, 1, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.Disk.Fail(nil, func(w Write) error {
			if w.What == "intent" { // delays every later command
				r.Sim.Faults().Add(simcluster.Rule{At: simcluster.Received, Delay: time.Second, Times: -1})
			}
			return nil
		})
		id := r.Start(p).ID
		time.Sleep(500 * time.Millisecond)
		asked := time.Now()
		r.stop(id)
		run := r.WaitEnd(id)
		r.Sim.Faults().Heal()
		if run.State != engine.Stopped || run.StopBy != Bert.ID || run.Why.Code != "run.stopped" || len(r.Sent(id)) != 0 {
			r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(id)))
		}
		if took := time.Since(asked); took > time.Minute {
			r.Errorf("it took %s", took)
		}
	})
}

func TestStopEndsAWaitAtOnce(t *testing.T) {
	OnCheckedRig(t, Setup{}, func(r *Rig, _ *RecordChecker) {
		p := r.planMove()
		r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Err: simcluster.Fail(46), Times: -1})
		id := r.Start(p).ID
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Waiting })
		asked := time.Now()
		r.stop(id)
		if run := r.WaitEnd(id); run.State != engine.Stopped || time.Since(asked) > time.Second {
			r.Errorf("%s after %s", run.State, time.Since(asked))
		}
	})
}

func TestWaitingRunCanBeStopped(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		first, second := r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)}), r.Plan(actions.Split, actions.Args{NS: NS, At: P(6)})
		a, rule := r.startAndHold(first, simcluster.Rule{Command: "split", At: simcluster.Committing})
		b := r.Start(second).ID
		r.Wait(b, func(run engine.Run) bool { return run.State == engine.Waiting })
		r.stop(b)
		if run := r.WaitEnd(b); run.State != engine.Stopped {
			r.Errorf("%s", run.State)
		}
		rule.Remove()
		r.checkReported(r.WaitEnd(a))
		runs, next, err := r.Engine.Runs(r.Context(), "", 1)
		r.Must(err)
		must.That(r, len(runs) == 1 && runs[0].ID == b && next != "", "%v %q", runs, next)
		if runs, next, err = r.Engine.Runs(r.Context(), next, 5); err != nil || len(runs) != 1 || runs[0].ID != a || next != "" {
			r.Errorf("%v %v %q", err, runs, next)
		}
	})
}

// balancerState reports whether balancing is on for the cluster and for the
// collection.
func (r *Rig) balancerState(ns topology.Namespace) (all, collection bool) {
	r.Helper()
	b := r.ReadFact(operation.Fact{Kind: operation.FactBalancer})
	c := r.ReadFact(operation.Fact{Kind: operation.FactCollection, NS: ns})
	return b["on"] == "true", c["noBalance"] == "false"
}

func TestPausedBalancingIsRestoredHoweverTheRunEnds(t *testing.T) {
	for _, pause := range []string{actions.PauseCollections, actions.PauseBalancer} {
		args := moveFirstChunk
		args.Pause = pause
		for _, end := range []string{"succeeds", "fails", "is stopped", "crashes", "crashes in the middle of a command"} {
			t.Run(pause+"/"+end, func(t *testing.T) {
				OnCheckedRig(t, Setup{}, func(r *Rig, _ *RecordChecker) {
					r.Admin(bson.D{{Key: "balancerStart", Value: 1}})
					r.Must(r.Watcher.Refresh(r.Context()))
					p := r.Plan(actions.MoveChunk, args)
					hold := simcluster.Rule{Command: "moveChunk", At: simcluster.Cloned, Hold: true}
					if end == "fails" {
						hold = simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Err: simcluster.Fail(20)}
					}
					rule := r.Sim.Faults().Add(hold)
					id := r.Start(p).ID
					<-rule.Reached()
					if all, coll := r.balancerState(NS); all && coll {
						r.Error("nothing is paused")
					}
					want := engine.Succeeded
					switch end {
					case "fails":
						want = engine.Failed
					case "is stopped":
						r.stop(id)
						want = engine.Succeeded // only the step that restores balancing follows the move
					case "crashes":
						r.Restart()
					case "crashes in the middle of a command":
						r.Kill()
						time.Sleep(time.Minute)
						rule.Remove()
						r.Boot()
					}
					rule.Remove()
					run := r.WaitEnd(id)
					if end == "is stopped" && run.State == engine.Stopped {
						want = engine.Stopped
					}
					if strings.HasPrefix(end, "crashes") && (run.State == engine.Stopped || run.State == engine.Failed) {
						want = run.State
					}
					expect.Equal(r, run.State, want, "%v", run.Why)
					if all, coll := r.balancerState(NS); !all || !coll {
						r.Errorf("%s, and the balancer is on: %v, for the collection: %v", run.State, all, coll)
					}
					expect.That(r, !run.LastingChanges().Paused, "said to be paused still")
					r.CheckSentOnce(run)
				})
			})
		}
	}
}

func TestBalancingThatWasOffBeforeStaysOff(t *testing.T) {
	OnCheckedRig(t, Setup{}, func(r *Rig, _ *RecordChecker) {
		args := moveFirstChunk
		args.Pause = actions.PauseBalancer
		if run := r.PlanAndRun(actions.MoveChunk, args); run.State != engine.Succeeded || len(run.Steps) != 1 {
			r.Errorf("%s in %d steps", run.State, len(run.Steps))
		}
		if all, _ := r.balancerState(NS); all {
			r.Error("the balancer is on")
		}
	})
}
