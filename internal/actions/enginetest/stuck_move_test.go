package enginetest

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

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
				if changed := run.Steps[len(run.Steps)-1].Changed; len(changed) == 0 {
					r.Errorf("what changed is not shown: %+v", run.Steps)
				}
				r.CheckSentOnce(run)
				again := r.PlanAndRun(actions.MoveChunk, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(5)}, To: "shard-rs-2"})
				if again.State != engine.Succeeded {
					r.Errorf("the next move: %s %v", again.State, again.Why)
				}
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
