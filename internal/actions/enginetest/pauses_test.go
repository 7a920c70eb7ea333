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
	"shardboard/internal/topology"
)

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
					if run.State != want {
						r.Errorf("%s %v", run.State, run.Why)
					}
					if all, coll := r.balancerState(NS); !all || !coll {
						r.Errorf("%s, and the balancer is on: %v, for the collection: %v", run.State, all, coll)
					}
					if s := run.LastingChanges(); s.Paused {
						r.Error("said to be paused still")
					}
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
