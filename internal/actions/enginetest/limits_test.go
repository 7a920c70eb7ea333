package enginetest

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// While a run waits, somebody divides what it moves: what is left to do would move more chunks than were confirmed.
func TestRunThatWouldMoveMoreThanWasConfirmedEnds(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Err: simcluster.Fail(46), Times: -1})
		id := r.Start(p).ID
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Waiting })
		of := must.Get(bson.ObjectIDFromHex(project))
		for i := range int64(40) {
			r.Admin(bson.D{{Key: "split", Value: "yorkie-meta.clients"}, {Key: "middle", Value: bson.D{
				{Key: "project_id", Value: of}, {Key: "_id", Value: (i - 20) << 57}}}})
		}
		rule.Remove()
		run := r.WaitEnd(id)
		if run.State != engine.Refused || run.Why.Code != "step.beyondLimits" {
			r.Errorf("%s %v", run.State, run.Why)
		}
		r.checkReported(run)
	})
}
