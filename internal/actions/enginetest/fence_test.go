package enginetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

// atIntent does something when an intent has been written, which is before the
// last look at the cluster.
func (r *Rig) atIntent(do func()) {
	r.Disk.Fail(nil, func(w Write) error {
		if w.What == "intent" {
			do()
		}
		return nil
	})
}

func TestWhatCannotBeReadIsNotActedOn(t *testing.T) {
	onCases(t, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.atIntent(func() {
			r.Sim.Faults().Add(simcluster.Rule{Command: "find", At: simcluster.Received, Err: simcluster.Fail(50), Times: -1})
		})
		run := r.Ended(r.Start(p).ID)
		if run.State != engine.Refused || run.Why.Code != "step.unread" || len(r.Sent(run.ID)) != 0 {
			r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(run.ID)))
		}
	})
}

// moveOf is the plan that these tests are about: [0, 10) to shard-rs-2.
func (r *Rig) moveOf() actions.Plan {
	r.Helper()
	return r.Plan(actions.MoveChunk, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-2"})
}

func (r *Rig) awayAndBack() {
	for _, to := range []string{"shard-rs-3", "shard-rs-1"} {
		r.Admin(
			bson.D{
				{Key: "moveChunk", Value: NS},
				{Key: "bounds", Value: bson.A{P(0), P(10)}},
				{Key: "to", Value: to},
				{Key: "_waitForDelete", Value: true},
			},
		)
	}
}

func (r *Rig) anew() {
	r.try("app", bson.D{{Key: "drop", Value: "users"}})
	r.users()
}

// What looks the same again is not the same.
func TestAChunkThatWentAwayAndCameBackIsAnother(t *testing.T) {
	for name, change := range map[string]func(*Rig){"chunk": (*Rig).awayAndBack, "collection": (*Rig).anew} {
		t.Run(name+" before the request", func(t *testing.T) {
			OnRig(t, Setup{}, func(r *Rig) {
				p := r.moveOf()
				change(r)
				_, _, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
				var differs *engine.ChangedError
				if !errors.As(err, &differs) || len(differs.Differences) == 0 || len(r.Sim.Faults().Seen()) != 0 {
					r.Errorf("%v, %d sent", err, len(r.Sim.Faults().Seen()))
				}
			})
		})
		t.Run(name+" before the command", func(t *testing.T) {
			OnRig(t, Setup{}, func(r *Rig) {
				p := r.moveOf()
				r.atIntent(func() { change(r) })
				run := r.Ended(r.Start(p).ID)
				if run.State != engine.Refused || len(run.Steps[0].Changed) == 0 || len(r.Sent(run.ID)) != 0 {
					r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(run.ID)))
				}
			})
		})
	}
}

func TestACollectionThatIsGoneFitsNoPlan(t *testing.T) {
	tried := 0
	for _, c := range Cases() {
		if c.Args.NS == "" || strings.HasPrefix(string(c.Kind), "zone-") {
			continue
		}
		tried++
		t.Run(c.Name, func(t *testing.T) {
			OnRig(t, c.Setup(), func(r *Rig) {
				p := c.Plan(r)
				r.atIntent(func() { r.try("app", bson.D{{Key: "drop", Value: "users"}}) })
				run := r.Ended(r.Start(p).ID)
				if run.State != engine.Refused || len(r.Sent(run.ID)) != 0 {
					r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(run.ID)))
				}
			})
		})
	}
	if tried < 5 {
		t.Errorf("%d kinds of changes of a collection were tried", tried)
	}
}

// A check that blocks is none of the commands and none of what they need: the
// plan is the same, and must not run all the same.
func TestACheckThatBlocksSinceThePlanHoldsTheRun(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.moveOf()
		r.Admin(bson.D{{Key: "setAllowMigrations", Value: NS}, {Key: "allowMigrations", Value: false}})
		_, _, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
		var blocked *engine.BlockedError
		if !errors.As(err, &blocked) || len(blocked.Checks) == 0 || len(r.Sim.Faults().Seen()) != 0 {
			r.Errorf("%v, %d sent", err, len(r.Sim.Faults().Seen()))
		}
	})
}

func TestAShardTakesPartInOneMigrationOfOursAtATime(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		const other = "app.posts"
		r.Admin(bson.D{{Key: "shardCollection", Value: other}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}})
		r.Admin(bson.D{{Key: "split", Value: other}, {Key: "middle", Value: bson.D{{Key: "p", Value: 0}}}})
		r.Restart()
		first := r.moveOf()
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
			if run := r.Ended(id); run.State != engine.Succeeded {
				r.Errorf("%s %v", run.State, run.Why)
			}
		}
	})
}

// What is called undone is as it was, whatever the steps of the undo say.
func TestWhatIsUndoneIsAsItWas(t *testing.T) {
	for _, c := range Cases() {
		if c.NoUndo || c.Kind == actions.BalancerOn || c.Kind == actions.BalancerOff {
			continue // the balancer moves chunks meanwhile
		}
		t.Run(c.Name, func(t *testing.T) {
			OnRig(t, c.Setup(), func(r *Rig) {
				p := c.Plan(r)
				before := r.World().String()
				run := r.Ended(r.Start(p).ID)
				time.Sleep(20 * time.Minute) // until the donor has cleaned up
				undo, err := r.Engine.Undo(r.Context(), Anna, run.ID, "")
				r.Must(err)
				r.Ended(r.Start(undo).ID)
				if after := r.World().String(); after != before {
					r.Errorf("before:\n%safter:\n%s", before, after)
				}
			})
		})
	}
}

// A server between refuses, while the command that it passed on is at work.
func TestARefusedCommandAtWorkHasNotFailedYet(t *testing.T) {
	c := Cases()[0]
	OnWatchedRig(t, c.Setup(), func(r *Rig, _ *Witness) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Err: simcluster.Fail(46), GoOn: true})
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Committing, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		time.Sleep(20 * time.Second)
		rule.Remove()
		if run := r.Ended(id); run.State != engine.Succeeded || !run.Resolved {
			r.Errorf("%s %v", run.State, run.Why)
		}
	})
}
