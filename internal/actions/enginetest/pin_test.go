package enginetest

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

func onProjects(t *testing.T, test func(r *Rig, project, shard string)) {
	OnRig(t, Setup{Sim: simcluster.Options{Projects: 6, Documents: 120, Still: true}}, func(r *Rig) {
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

func TestProjectIsPinnedByMovesAndUndone(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		run := r.WaitEnd(r.Start(p).ID)
		if run.State != engine.Succeeded {
			r.Fatalf("%s %v: %+v", run.State, run.Why, run.Steps)
		}
		r.checkReported(run)
		time.Sleep(20 * time.Minute)
		undo, err := r.Engine.Undo(r.Context(), Anna, run.ID, "")
		r.Must(err)
		back := r.WaitEnd(r.Start(undo).ID)
		if back.State != engine.Succeeded {
			r.Fatalf("%s %v: %+v", back.State, back.Why, back.Steps)
		}
		r.checkReported(back)
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
		if run, err := r.Engine.RunByID(r.Context(), id); err != nil || run.State != engine.Running {
			r.Fatalf("%v %s %v", err, run.State, run.Why)
		}
		rule.Remove()
		run := r.WaitEnd(id)
		if run.State != engine.Succeeded {
			r.Errorf("%s %v: %+v", run.State, run.Why, run.Steps[len(run.Steps)-1])
		}
		for _, s := range run.Steps {
			if len(s.Changed) != 0 {
				r.Errorf("proven, and yet changed: %+v", s.Changed)
			}
		}
		r.checkReported(run)
	})
}
