package enginetest

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

func TestRunSucceedsOnlyWhenTheTableShowsItsEffect(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.planMove()
		id := r.Start(p).ID
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Succeeded })
		got := actions.Fields(r.Watcher.Table(), actions.Fact{Kind: actions.FactChunk, NS: NS, Min: P(0), Max: P(10)})
		if got["shard"] != "shard-rs-2" {
			r.Errorf("%v", got)
		}
	})
}

func TestPinAdaptsToAClusterThatChangedSinceThePlan(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		var first actions.Step
		for _, s := range p.Steps {
			if s.Op == actions.OpSplitAt {
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
		if len(run.Steps) != len(p.Steps)-1 {
			r.Errorf("%d steps, planned were %d", len(run.Steps), len(p.Steps))
		}
	})
}

func TestRestOfAStoppedPinCanBeFinished(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "addShardToZone", At: simcluster.Received, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		_, err := r.Engine.Stop(r.Context(), Bert, id)
		r.Must(err)
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
