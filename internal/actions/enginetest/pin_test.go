package enginetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/simcluster"
)

func onProjects(t *testing.T, test func(r *Rig, project, shard string)) {
	t.Helper()
	onProjectsOf(t, Setup{}, test)
}

func onProjectsOf(t *testing.T, s Setup, test func(r *Rig, project, shard string)) {
	t.Helper()
	s.Sim = simcluster.Options{Projects: 6, Documents: 120, Still: true}
	OnRig(t, s, func(r *Rig) {
		p := r.Keeper.Directory().All()[2]
		c := r.Watcher.Table().Collection("yorkie-meta.documents")
		// The shard with the fewest chunks.
		shard := "shard-rs-3"
		if n := c.Chunks.CountByShard(); n["shard-rs-2"] < n[shard] {
			shard = "shard-rs-2"
		}
		test(r, p.ID.Hex(), shard)
	})
}

func TestRunWaitsForTheBalancerToCarryOutAPinAcrossARestart(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		r.Admin(bson.D{{Key: "balancerStart", Value: 1}})
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "balancer", At: simcluster.Targeted, Hold: true, Times: -1})
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard, Mode: actions.ModeBalancer})
		id := r.Start(p).ID
		waits := r.Wait(id, func(run engine.Run) bool { return run.Why.Code == "run.awaiting" })
		if p := waits.Steps[len(waits.Steps)-1].Progress; p.Done == p.Total && p.Total > 0 {
			r.Fatalf("nothing to wait for: %+v", p)
		}
		time.Sleep(time.Minute)
		r.Restart()
		time.Sleep(time.Minute)
		if run := r.runNow(id); run.State != engine.Running {
			r.Fatalf("%s %v", run.State, run.Why)
		}
		rule.Remove()
		run := r.succeeds(id)
		for _, s := range run.Steps {
			expect.Equal(r, len(s.Changed), 0, "proven, and yet changed: %+v", s.Changed)
		}
		r.checkReported(run)
	})
}

func TestPinAdaptsToAClusterThatChangedSinceThePlan(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		var first operation.Step
		for _, s := range p.Steps {
			if s.Op == operation.OpSplitAt {
				first = s
				break
			}
		}
		if first.At == nil {
			r.Fatal("nothing is cut")
		}
		r.Admin(bson.D{{Key: "split", Value: first.NS}, {Key: "middle", Value: first.At}})
		run := r.WaitEnd(r.Start(p).ID)
		r.checkReported(run)
		if run.State != engine.Succeeded || len(run.Adaptations) == 0 || run.Adaptations[0].Step != 0 || len(run.Adaptations[0].Because) == 0 {
			r.Errorf("%s %+v", run.State, run.Adaptations)
		}
		expect.Equal(r, len(run.Steps), len(p.Steps)-1, "steps of %d planned", len(p.Steps))
	})
}

// A plan that adapts to a changed cluster is not run when a check blocks what is left to do.
func TestPinIsNotRunWhenACheckBlocksItsRest(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		i := slices.IndexFunc(p.Steps, func(s operation.Step) bool { return s.Op == operation.OpSplitAt })
		r.Admin(bson.D{{Key: "split", Value: p.Steps[i].NS}, {Key: "middle", Value: p.Steps[i].At}})
		r.Admin(bson.D{{Key: "removeShard", Value: shard}}) // it takes no chunks any more
		if _, _, err := r.RunPlan(Anna, p); fault.Of(err) != fault.Conflict {
			r.Errorf("%v", err)
		}
	})
}

func TestRestOfAStoppedPinCanBeFinished(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		id, rule := r.startAndHold(p, simcluster.Rule{Command: "addShardToZone", At: simcluster.Received})
		r.stop(id)
		rule.Remove()
		run := r.WaitEnd(id)
		if s := run.LastingChanges(); run.State != engine.Stopped || !run.CanFinish() || s.Splits == 0 || s.RangesSet != 0 {
			r.Fatalf("%s %+v", run.State, s)
		}
		if _, err := r.Engine.Finish(r.Context(), Bert, "nosuchrun", ""); err == nil {
			r.Error("the rest of no run")
		}
		rest, err := r.Engine.Finish(r.Context(), Anna, id, "")
		r.Must(err)
		done := r.WaitEnd(r.Start(rest).ID)
		if done.State != engine.Succeeded || len(done.Steps) >= len(p.Steps) {
			r.Errorf("%s in %d steps, planned were %d", done.State, len(done.Steps), len(p.Steps))
		}
		if _, err := r.Engine.Finish(context.Background(), Anna, done.ID, ""); err == nil {
			r.Error("the rest of what is done")
		}
	})
}
