package enginetest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// first is the shard with the chunks of an empty rig, which is also the primary of app.
const first = "shard-rs-1"

// onDrainingRig runs a test with a balancer that runs and a watcher that polls.
func onDrainingRig(t *testing.T, release string, test func(r *Rig)) {
	OnRig(t, Setup{Sim: simcluster.Options{ServerVersion: release}}, func(r *Rig) {
		balancerOn(r)
		end := r.watch()
		defer func() { end() }()
		test(r)
	})
}

// watch lets the watcher of the current process poll until the returned function is called.
func (r *Rig) watch() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	w := r.Watcher
	go func() { defer close(done); _ = w.Run(ctx) }()
	return func() { cancel(); <-done }
}

// balance lets the balancer make some rounds.
func (r *Rig) balance(rounds int) {
	r.Helper()
	for range rounds {
		r.Must(simcluster.Round(r.Context(), r.Sim))
		time.Sleep(time.Second)
	}
}

func (r *Rig) movePrimary(to string) {
	r.Helper()
	r.Admin(bson.D{{Key: "movePrimary", Value: "app"}, {Key: "to", Value: to}})
}

// removals counts the commands of a run that drain or remove.
func (r *Rig) removals(id string) (n int) {
	for _, s := range r.Sent(id) {
		if slices.Contains([]string{"removeShard", "startShardDraining", "commitShardRemoval", "transitionToDedicatedConfigServer"}, s.Name) {
			n++
		}
	}
	return n
}

func awaiting(run engine.Run) bool {
	last := run.Steps[len(run.Steps)-1]
	return last.AwaitsDrain() && last.State == engine.Running
}

func TestAShardIsDrainedAndRemovedInEveryRelease(t *testing.T) {
	releases := []string{"4.4", "5.0", "6.0", "7.0", "8.0", "8.3"}
	if testing.Short() {
		releases = []string{"5.0", "8.3"}
	}
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			onDrainingRig(t, release, func(r *Rig) {
				id := r.Start(r.Plan(actions.DrainShard, actions.Args{Shard: first})).ID
				run := r.Wait(id, awaiting)
				if p := run.Steps[1].Progress; p.Total < 5 || p.Done != 0 {
					r.Errorf("progress at the beginning: %+v", p)
				}
				plan := r.Plan(actions.RemoveShard, actions.Args{Shard: first})
				expect.That(r, plan.Blocked() && plan.Confirm == first && plan.Risk == actions.High,
					"removing a shard that is not empty: %+v", plan.Checks)
				r.balance(12)
				time.Sleep(time.Minute)
				if run := r.runNow(id); !awaiting(run) {
					r.Fatal("the run ended while a database has the shard as its primary", run.State)
				}
				r.movePrimary("shard-rs-2")
				run = r.WaitEnd(id)
				must.That(r, run.State == engine.Succeeded && r.removals(id) == 1,
					"%s %s, sent %v", run.State, run.Why, r.Sent(id))
				expect.Equal(r, run.CanUndo(), release == "8.3", "can be undone")
				must.That(r, r.ReadState().Draining[first], "draining removed the shard, or ended")
				gone := r.PlanAndRun(actions.RemoveShard, actions.Args{Shard: first})
				if _, there := r.ReadState().Draining[first]; there || gone.State != engine.Succeeded || r.removals(gone.ID) != 1 {
					r.Fatalf("%s %s, the shard is there: %v", gone.State, gone.Why, there)
				}
				expect.That(r, !gone.CanUndo(), "a removed shard is said to come back")
			})
		})
	}
}

// Between the plan and the command somebody else begins to drain the shard, which is empty:
// removeShard would remove it.
func TestADrainThatSomebodyElseBeganIsNotBegunAgain(t *testing.T) {
	onDrainingRig(t, "5.0", func(r *Rig) {
		plan := r.Plan(actions.DrainShard, actions.Args{Shard: "shard-rs-3"})
		drainThird(r)
		_, _, err := r.RunPlan(Anna, plan)
		expect.Equal(r, fault.Of(err), fault.Conflict, "the plan of a drain that had begun: %v", err)
		waits := r.Plan(actions.DrainShard, actions.Args{Shard: "shard-rs-3"})
		expect.That(r, len(waits.Steps) == 1 && waits.Confirm == "" && waits.Risk == actions.Low,
			"a plan that only waits: %+v", waits.Steps)
		run := r.WaitEnd(r.Start(waits).ID)
		if _, there := r.ReadState().Draining["shard-rs-3"]; !there || run.State != engine.Succeeded || len(r.Sent(run.ID)) != 0 {
			r.Errorf("%s %s, sent %v", run.State, run.Why, r.Sent(run.ID))
		}
	})
}

func TestStoppingADrainRunLeavesTheDrainingOn(t *testing.T) {
	onDrainingRig(t, "8.3", func(r *Rig) {
		id := r.Start(r.Plan(actions.DrainShard, actions.Args{Shard: first})).ID
		r.Wait(id, awaiting)
		r.stop(id)
		run := r.WaitEnd(id)
		if run.State != engine.Stopped || run.Why.Code != "run.stoppedDraining" || !r.ReadState().Draining[first] {
			r.Errorf("%s: %s", run.State, run.Why)
		}
		expect.That(r, run.CanFinish() && run.CanUndo(), "neither the rest nor the undo is offered")
		undo := r.undo(id)
		if back := r.WaitEnd(r.Start(undo).ID); back.State != engine.Succeeded || r.ReadState().Draining[first] {
			r.Errorf("%s %s: the shard still drains", back.State, back.Why)
		}
	})
}

// A run that waits holds no lock, and ends when there is nothing to wait for.
func TestADrainRunEndsWhenSomebodyEndsTheDraining(t *testing.T) {
	onDrainingRig(t, "8.3", func(r *Rig) {
		id := r.Start(r.Plan(actions.DrainShard, actions.Args{Shard: first})).ID
		r.Wait(id, awaiting)
		r.succeeds(r.PlanAndRun(actions.StopDraining, actions.Args{Shard: first}).ID)
		if run := r.WaitEnd(id); run.State != engine.Failed || run.Why.Code != "step.drainEnded" {
			r.Errorf("%s: %s", run.State, run.Why)
		}
	})
}

// Whatever happens while the shard empties: the run waits for the balancer, and sends nothing again.
func TestADrainGoesOnWhateverHappensMeanwhile(t *testing.T) {
	for name, strike := range map[string]func(r *Rig){
		"a restart": (*Rig).Restart,
		"the balancer is off, and the config server frozen": func(r *Rig) {
			r.Admin(bson.D{{Key: "balancerStop", Value: 1}})
			time.Sleep(5 * time.Minute)
			r.Sim.Faults().Freeze("config")
			time.Sleep(5 * time.Minute)
			r.Sim.Faults().Heal()
			balancerOn(r)
		},
		"donors step down in a migration, and then there is no primary": func(r *Rig) {
			var struck []*simcluster.Planted
			for _, at := range []simcluster.Step{simcluster.Cloned, simcluster.Committing} {
				struck = append(struck, r.Sim.Faults().Add(simcluster.Rule{Command: "balancer", At: at, StepDown: true}))
			}
			r.balance(3)
			for _, command := range []string{"find", "aggregate"} {
				struck = append(struck, r.Sim.Faults().Add(simcluster.Rule{
					Command: command, At: simcluster.Received, Err: simcluster.Fail(10107), For: 2 * time.Minute}))
			}
			time.Sleep(5 * time.Minute)
			for i, p := range struck {
				expect.That(r, p.Struck() != 0, "fault %d did not strike", i)
			}
			r.Sim.Faults().Heal()
		},
	} {
		t.Run(name, func(t *testing.T) {
			onDrainingRig(t, "5.0", func(r *Rig) {
				id := r.Start(r.Plan(actions.DrainShard, actions.Args{Shard: first})).ID
				r.Wait(id, awaiting)
				r.balance(2)
				strike(r)
				if p := r.Wait(id, awaiting).Steps[1].Progress; p.Total < 5 {
					r.Errorf("how much there was is forgotten: %+v", p)
				}
				r.movePrimary("shard-rs-2")
				r.balance(16)
				if run := r.WaitEnd(id); run.State != engine.Succeeded || r.removals(id) != 1 {
					r.Errorf("%s %s, sent %v", run.State, run.Why, r.Sent(id))
				}
			})
		})
	}
}

// A chunk that is flagged as jumbo stays. The plan says so, and the run waits for a person.
func TestAJumboChunkKeepsAShardFromBecomingEmpty(t *testing.T) {
	onDrainingRig(t, "5.0", func(r *Rig) {
		r.movePrimary("shard-rs-2")
		r.setJumboFlag(true)
		r.Restart()
		plan := r.Plan(actions.DrainShard, actions.Args{Shard: first})
		i := slices.IndexFunc(plan.Checks, func(c actions.Check) bool { return c.ID == "jumbo" })
		if c := plan.Checks[i]; c.Verdict != actions.Warn || len(c.Plans) != 3 || c.Plans[1].Kind != actions.ClearJumbo {
			r.Errorf("the check of jumbo chunks: %+v", c)
		}
		id := r.Start(plan).ID
		r.Wait(id, awaiting)
		r.balance(12)
		time.Sleep(10 * time.Minute)
		run, err := r.Engine.RunByID(r.Context(), id)
		must.That(r, err == nil && awaiting(run), "%s %s", run.State, run.Why)
		r.setJumboFlag(false)
		r.balance(4)
		r.succeeds(id)
	})
}

// Something arrives between the check and the last removeShard: the server answers
// "ongoing", and the run must not call that a removal.
func TestAShardThatIsNotEmptyIsNotSaidToBeRemoved(t *testing.T) {
	onDrainingRig(t, "5.0", func(r *Rig) {
		drainThird(r)
		plan := r.Plan(actions.RemoveShard, actions.Args{Shard: "shard-rs-3"})
		r.Sim.Faults().Add(simcluster.Rule{Command: "removeShard", At: simcluster.Received,
			Do: simcluster.Other("admin", bson.D{{Key: "movePrimary", Value: "app"}, {Key: "to", Value: "shard-rs-3"}})})
		run := r.WaitEnd(r.Start(plan).ID)
		_, there := r.ReadState().Draining["shard-rs-3"]
		expect.That(r, there && run.State == engine.Failed && r.removals(run.ID) == 1,
			"%s %s, the shard is there: %v", run.State, run.Why, there)
		if step := run.Steps[0]; step.Error == "" {
			r.Errorf("the run does not say what is left: %+v", step)
		}
	})
}

// The config server stays a shard until the documents of what left it are deleted, which is said. Nothing is changed.
func TestConfigServerIsDedicatedWhenItsOldDocumentsAreDeleted(t *testing.T) {
	onDrainingRig(t, "8.0", func(r *Rig) {
		configShard(r)
		for _, to := range []string{"config", "shard-rs-2"} {
			r.Admin(bson.D{
				{Key: "moveChunk", Value: NS}, {Key: "find", Value: bson.D{{Key: "p", Value: 1}}}, {Key: "to", Value: to},
			})
		}
		run := r.succeeds(r.Start(r.Plan(actions.DrainShard, actions.Args{Shard: "config"})).ID)
		for _, want := range []engine.State{engine.Failed, engine.Succeeded} {
			run = r.WaitEnd(r.Start(r.Plan(actions.RemoveShard, actions.Args{Shard: "config"})).ID)
			_, there := r.ReadState().Draining["config"]
			expect.That(r, run.State == want && there == (want == engine.Failed) && r.removals(run.ID) == 1,
				"%s %s, the shard is there: %t", run.State, run.Why, there)
			if failed := run.Steps[0].Error; (want == engine.Failed) != strings.Contains(failed, "not deleted yet") {
				r.Errorf("the step of a run that %s has the error %q", want, failed)
			}
			time.Sleep(16 * time.Minute)
		}
	})
}
