package enginetest

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

func TestShardTakesPartInOneOfOurMigrationsAtATime(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		const other = "app.posts"
		r.Admin(bson.D{{Key: "shardCollection", Value: other}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}})
		r.Admin(bson.D{{Key: "split", Value: other}, {Key: "middle", Value: bson.D{{Key: "p", Value: 0}}}})
		r.Restart()
		first := r.planMove()
		lowest, err := bson.Marshal(bson.D{{Key: "p", Value: bson.MinKey{}}})
		r.Must(err)
		second := r.Plan(actions.MoveChunk, actions.Args{NS: other, Bounds: [2]bson.Raw{lowest, P(0)}, To: "shard-rs-3"})
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Cloned, Hold: true})
		a := r.Start(first).ID
		<-rule.Reached()
		b := r.Start(second).ID
		waiting := r.Wait(b, func(run engine.Run) bool { return run.State == engine.Waiting || !run.State.Open() })
		if waiting.Why.Args()["for"] != "shard shard-rs-1" || waiting.Why.Args()["run"] != a || len(r.Sent(b)) != 0 {
			r.Errorf("%s %v, %d sent", waiting.State, waiting.Why, len(r.Sent(b)))
		}
		time.Sleep(time.Minute)
		rule.Remove()
		for _, id := range []string{a, b} {
			if run := r.WaitEnd(id); run.State != engine.Succeeded {
				r.Errorf("%s %v", run.State, run.Why)
			}
		}
	})
}

func TestSecondRunOnACollectionWaitsAndIsCheckedAgain(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		first := r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)})
		second := r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)})
		other := r.Plan(actions.BalancerOn, actions.Args{})
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "split", At: simcluster.Committing, Hold: true})
		a := r.Start(first).ID
		<-rule.Reached()
		b := r.Start(second).ID
		waiting := r.Wait(b, func(run engine.Run) bool { return run.State == engine.Waiting })
		if waiting.Why.Args()["run"] != a || waiting.Why.Args()["for"] != "collection "+string(NS) {
			r.Errorf("%v", waiting.Why)
		}
		if run := r.WaitEnd(r.Start(other).ID); run.State != engine.Succeeded {
			r.Errorf("what needs another thing waits too: %s", run.State)
		}
		rule.Remove()
		r.checkReported(r.WaitEnd(a))
		if run := r.WaitEnd(b); run.State != engine.Succeeded || run.Steps[0].Already == "" || len(r.Sent(b)) != 0 {
			r.Errorf("%s, %d sent", run.State, len(r.Sent(b)))
		}
	})
}
