package enginetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/cluster"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// foreignMove is another operator's move of [lo, hi) of NS, which leaves orphaned
// documents.
func (r *Rig) foreignMove(lo, hi int, to string) {
	r.Helper()
	r.Admin(bson.D{{Key: "moveChunk", Value: NS}, {Key: "bounds", Value: bson.A{P(lo), P(hi)}}, {Key: "to", Value: to}})
}

// wiredMove is foreignMove over a connection of its own, where faults strike.
func (r *Rig) wiredMove(lo, hi int, to string) {
	r.Helper()
	uri, err := cluster.ParseURI(simcluster.URI())
	r.Must(err)
	c, err := cluster.Connect(context.Background(), uri, cluster.Options{Dialer: r.Sim})
	r.Must(err)
	defer func() { _ = c.Close(context.Background()) }()
	r.Must(c.MoveChunk(context.Background(), "", topology.Move{NS: NS, Min: P(lo), Max: P(hi), To: to}))
}

func TestAMoveThatSomebodyElseHasMadeIsNotSent(t *testing.T) {
	OnWatchedRig(t, Setup{}, func(r *Rig, _ *Witness) {
		p := r.Plan(actions.MoveChunk, lowest)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "split", At: simcluster.Committing, Hold: true})
		first := r.Start(r.Plan(actions.Split, actions.Args{NS: NS, At: P(25)})).ID
		<-rule.Reached()
		id := r.Start(p).ID // waits for the collection
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Waiting })
		rule.Remove()
		r.Ended(first)
		run := r.Ended(id)
		r.honest(run)
		if run.State != engine.Succeeded || run.Steps[0].Already != "" {
			r.Fatalf("%s %+v", run.State, run.Steps[0])
		}
	})
	OnWatchedRig(t, Setup{}, func(r *Rig, _ *Witness) {
		p := r.Plan(actions.MoveChunk, lowest)
		r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Err: simcluster.Fail(117)})
		id := r.Start(p).ID
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Waiting })
		r.foreignMove(0, 10, "shard-rs-2")
		run := r.Ended(id)
		last := run.Steps[len(run.Steps)-1]
		if run.State != engine.Succeeded || last.Already != engine.ByOther || len(r.Sent(id)) != 1 {
			r.Errorf("%s, done by %q, %d sent", run.State, last.Already, len(r.Sent(id)))
		}
	})
}

// A shard that takes part in another migration refuses at once. The step is tried
// again as soon as that one has ended, with an intent of its own.
func TestAMoveWaitsForTheMigrationThatIsInItsWay(t *testing.T) {
	OnWatchedRig(t, Setup{}, func(r *Rig, _ *Witness) {
		p := r.Plan(actions.MoveChunk, lowest)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Cloned, Hold: true,
			Match: func(cmd bson.Raw) bool { return cmd.Lookup("comment").Type == 0 }})
		moved := make(chan struct{})
		go func() {
			defer close(moved)
			r.wiredMove(20, 30, "shard-rs-3")
		}()
		<-rule.Reached()
		id := r.Start(p).ID
		waiting := r.Wait(id, func(run engine.Run) bool {
			return run.State == engine.Waiting && run.Steps[len(run.Steps)-1].State == engine.Waiting
		})
		time.Sleep(3 * time.Minute)
		waiting, err := r.Engine.RunByID(r.Context(), id)
		r.Must(err)
		w := waiting.Steps[len(waiting.Steps)-1].Backoff
		if w == nil || w.Obstacle != actions.ObstacleMigration || w.What.Args()["ns"] != string(NS) || w.What.Args()["to"] != "shard-rs-3" {
			r.Fatalf("%+v", w)
		}
		if got := w.Until.Sub(w.Since); got != 15*time.Minute {
			r.Errorf("gives up after %s", got)
		}
		tries := len(waiting.Steps)
		rule.Remove()
		<-moved
		run := r.Ended(id)
		r.SentOnce(run)
		intents, err := r.handle.Intents(r.Context(), id)
		r.Must(err)
		if run.State != engine.Succeeded || len(run.Steps) != tries || len(r.Sent(id)) != len(intents) {
			r.Errorf("%s in %d steps (%d while waiting), %d sent with %d intents", run.State, len(run.Steps), tries, len(r.Sent(id)), len(intents))
		}
	})
}

func TestAStepGivesUpAfterAQuarterOfAnHour(t *testing.T) {
	if testing.Short() {
		t.Skip("tries hundreds of times, and each try is written down with all before it")
	}
	OnWatchedRig(t, Setup{}, func(r *Rig, _ *Witness) {
		p := r.Plan(actions.MoveChunk, lowest)
		r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Err: simcluster.Fail(46), Times: -1})
		begun := time.Now()
		run := r.Ended(r.Start(p).ID)
		if run.State != engine.Failed || run.Why.Code != "step.gaveUp" || time.Since(begun) < 15*time.Minute ||
			time.Since(begun) > 16*time.Minute {
			r.Errorf("%s %v after %s", run.State, run.Why, time.Since(begun))
		}
		r.SentOnce(run)
	})
}

func TestAStopEndsAWaitAtOnce(t *testing.T) {
	OnWatchedRig(t, Setup{}, func(r *Rig, _ *Witness) {
		p := r.Plan(actions.MoveChunk, lowest)
		r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Err: simcluster.Fail(46), Times: -1})
		id := r.Start(p).ID
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Waiting })
		asked := time.Now()
		_, err := r.Engine.Stop(r.Context(), Bert, id)
		r.Must(err)
		if run := r.Ended(id); run.State != engine.Stopped || time.Since(asked) > time.Second {
			r.Errorf("%s after %s", run.State, time.Since(asked))
		}
	})
}

// What a shard gave away it cannot take back before it has deleted it. The plan
// says so, and the run waits without keeping the shards busy all the time.
func TestAMoveBackWaitsUntilTheOrphansAreDeleted(t *testing.T) {
	OnWatchedRig(t, Setup{}, func(r *Rig, _ *Witness) {
		r.foreignMove(0, 10, "shard-rs-2")
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
		if w := waiting.Steps[len(waiting.Steps)-1].Backoff; w == nil || w.Obstacle != actions.ObstacleOrphans ||
			!w.Until.After(away.Add(15*time.Minute)) {
			r.Errorf("%+v", w)
		}
		run := r.Ended(id)
		if took := time.Since(away); run.State != engine.Succeeded || took < 15*time.Minute || took > 20*time.Minute {
			r.Errorf("%s %v after %s", run.State, run.Why, took)
		}
		if n := len(r.Sent(id)); n > 10 {
			r.Errorf("%d tries", n)
		}
		r.SentOnce(run)
	})
}

// balancers gives what of the balancer is on: all of it, and of the collection.
func (r *Rig) balancers(ns topology.Namespace) (all, collection bool) {
	r.Helper()
	b := r.Truth(actions.Fact{Kind: actions.FactBalancer})
	c := r.Truth(actions.Fact{Kind: actions.FactCollection, NS: ns})
	return b["on"] == "true", c["noBalance"] == "false"
}

func TestWhatARunPausesIsBackHoweverItEnds(t *testing.T) {
	for _, pause := range []string{actions.PauseCollections, actions.PauseBalancer} {
		args := lowest
		args.Pause = pause
		for _, end := range []string{"succeeds", "fails", "is stopped", "crashes", "crashes in the middle of a command"} {
			t.Run(pause+"/"+end, func(t *testing.T) {
				OnWatchedRig(t, Setup{}, func(r *Rig, _ *Witness) {
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
					if all, coll := r.balancers(NS); all && coll {
						r.Error("nothing is paused")
					}
					want := engine.Succeeded
					switch end {
					case "fails":
						want = engine.Failed
					case "is stopped":
						_, err := r.Engine.Stop(r.Context(), Bert, id)
						r.Must(err)
						want = engine.Succeeded // the move was the last step but for the one that restores
					case "crashes":
						r.Restart()
					case "crashes in the middle of a command":
						r.Kill()
						time.Sleep(time.Minute)
						rule.Remove()
						r.Boot()
					}
					rule.Remove()
					run := r.Ended(id)
					if end == "is stopped" && run.State == engine.Stopped {
						want = engine.Stopped
					}
					if strings.HasPrefix(end, "crashes") && (run.State == engine.Stopped || run.State == engine.Failed) {
						want = run.State
					}
					if run.State != want {
						r.Errorf("%s %v", run.State, run.Why)
					}
					if all, coll := r.balancers(NS); !all || !coll {
						r.Errorf("%s, and the balancer is on: %v, for the collection: %v", run.State, all, coll)
					}
					if s := run.LastingChanges(); s.Paused {
						r.Error("said to be paused still")
					}
					r.SentOnce(run)
				})
			})
		}
	}
}

// What somebody else had switched off before stays off.
func TestWhatWasOffBeforeStaysOff(t *testing.T) {
	OnWatchedRig(t, Setup{}, func(r *Rig, _ *Witness) {
		args := lowest
		args.Pause = actions.PauseBalancer
		if run := r.Do(actions.MoveChunk, args); run.State != engine.Succeeded || len(run.Steps) != 1 {
			r.Errorf("%s in %d steps", run.State, len(run.Steps))
		}
		if all, _ := r.balancers(NS); all {
			r.Error("the balancer is on")
		}
	})
}

// Whoever reads that a run has succeeded finds it so in the table.
func TestARunHasSucceededWhenTheTableHasIt(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.MoveChunk, lowest)
		id := r.Start(p).ID
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Succeeded })
		got := actions.Fields(r.Watcher.Table(), actions.Fact{Kind: actions.FactChunk, NS: NS, Min: P(0), Max: P(10)})
		if got["shard"] != "shard-rs-2" {
			r.Errorf("%v", got)
		}
	})
}

// A pin that the cluster moved on from between plan and confirmation begins with
// what is left; beyond the confirmed limits it does not begin.
func TestAPinBeginsOnAClusterThatHasMovedOn(t *testing.T) {
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
		run := r.Ended(r.Start(p).ID)
		r.honest(run)
		if run.State != engine.Succeeded || len(run.Adaptations) == 0 || run.Adaptations[0].Step != 0 || len(run.Adaptations[0].Because) == 0 {
			r.Errorf("%s %+v", run.State, run.Adaptations)
		}
		if len(run.Steps) != len(p.Steps)-1 {
			r.Errorf("%d steps, planned were %d", len(run.Steps), len(p.Steps))
		}
	})
}

func TestTheRestOfAStoppedPinIsFinished(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "addShardToZone", At: simcluster.Received, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		_, err := r.Engine.Stop(r.Context(), Bert, id)
		r.Must(err)
		rule.Remove()
		run := r.Ended(id)
		if s := run.LastingChanges(); run.State != engine.Stopped || !run.CanFinish() || s.Splits == 0 || s.RangesSet != 0 {
			r.Fatalf("%s %+v", run.State, s)
		}
		if _, err := r.Engine.Finish(r.Context(), Bert, "nosuchrun", ""); err == nil {
			r.Error("the rest of no run")
		}
		rest, err := r.Engine.Finish(r.Context(), Anna, id, "")
		r.Must(err)
		done := r.Ended(r.Start(rest).ID)
		if done.State != engine.Succeeded || len(done.Steps) >= len(p.Steps) {
			r.Errorf("%s in %d steps, planned were %d", done.State, len(done.Steps), len(p.Steps))
		}
		if _, err := r.Engine.Finish(context.Background(), Anna, done.ID, ""); err == nil {
			r.Error("the rest of what is done")
		}
	})
}
