package enginetest

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
)

func TestAProcessThatEndsBetweenIntentAndCommandHasSentNothing(t *testing.T) {
	onCases(t, func(r *Rig, c Case) {
		p := c.Plan(r)
		reached := make(chan struct{})
		r.Disk.Fail(nil, func(w Write) error {
			if w.What == "intent" {
				close(reached)
				r.handle.Cut() // nothing after this intent gets to the disk
			}
			return nil
		})
		id := r.Start(p).ID
		<-reached
		r.Disk.Fail(nil, nil)
		r.Restart()
		run := r.Ended(id)
		if run.State != engine.Failed || len(r.Sent(id)) != 0 {
			r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(id)))
		}
		r.honest(run)
	})
}

func TestAProcessThatEndsBetweenCommandAndResultIsSettledByTheNext(t *testing.T) {
	for _, at := range []simcluster.Step{simcluster.Received, simcluster.Replying} {
		onCases(t, func(r *Rig, c Case) {
			p := c.Plan(r)
			rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: at, Hold: true})
			id := r.Start(p).ID
			<-rule.Reached()
			r.Kill()
			rule.Remove() // the cluster goes on with what it was told
			r.Boot()
			run := r.Ended(id)
			if run.State != engine.Succeeded || !run.Resolved {
				r.Errorf("%s, resolved %v, %v", run.State, run.Resolved, run.Why)
			}
			r.honest(run)
			if again, created, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm}); err != nil ||
				created ||
				again.ID != id {
				r.Errorf("the plan ran again: %v %v %v", created, again.ID, err)
			}
		})
	}
}

func TestACommandAtWorkWhileTheProcessIsGoneStaysUnknownUntilItHasEnded(t *testing.T) {
	c := Cases()[3]
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Cloned, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		r.Restart()
		time.Sleep(10 * time.Minute)
		if run, err := r.Engine.RunByID(r.Context(), id); err != nil || run.State != engine.Unknown {
			r.Fatalf("%v %s", err, run.State)
		}
		rule.Remove()
		healed := time.Now()
		run := r.Ended(id)
		if run.State != engine.Succeeded || time.Since(healed) > time.Minute {
			r.Errorf("%s %v", run.State, run.Why)
		}
		r.honest(run)
	})
}

// Every write that a run makes fails once: before it has its effect, after, and
// with all writes after it until the process is started again.
func TestNoWriteThatFailsMakesTheRecordLie(t *testing.T) {
	for _, c := range []Case{Cases()[3], Cases()[0], Cases()[8]}[:much(1, 3, 3)] {
		for _, how := range []string{"before", "after", "from"} {
			for n := 1; n <= 12; n++ {
				OnRig(t, c.Setup(), func(r *Rig) {
					p := c.Plan(r)
					fail := Nth("", n, how == "from")
					if how == "after" {
						r.Disk.Fail(nil, fail)
					} else {
						r.Disk.Fail(fail, nil)
					}
					run, _, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
					if err != nil {
						// Whoever was told of a failure may find that it runs all the same only after
						// a restart, and then as stopped.
						r.Disk.Fail(nil, nil)
						r.Restart()
						if run, err = r.Engine.RunOfPlan(r.Context(), p.ID); err != nil {
							if len(r.Sim.Faults().Seen(c.Command)) > 0 {
								r.Error("no run, and something was sent")
							}
							return
						}
					} else if how == "from" {
						time.Sleep(time.Minute)
						r.Disk.Fail(nil, nil)
						r.Restart()
					}
					run = r.Ended(run.ID)
					r.SentOnce(run)
					if so := r.proofOf(run); so != (run.State == engine.Succeeded) {
						r.Errorf("%s, %s write %d: the run says %s, the effect is there: %v", c.Name, how, n, run.State, so)
					}
				})
			}
		}
	}
}

func TestAStopHoldsBeforeTheNextCommandAndSurvivesARestart(t *testing.T) {
	c := Cases()[5]
	c.Release = "5.0" // cut, cut, move
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		if len(p.Steps) < 3 {
			r.Fatalf("%d steps", len(p.Steps))
		}
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "split", At: simcluster.Committing, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		run, err := r.Engine.Stop(r.Context(), Bert, id)
		r.Must(err)
		if run.InFlight() != 0 || run.StopBy != Bert.ID {
			r.Errorf("in flight: %d, stopped by %q", run.InFlight(), run.StopBy)
		}
		rule.Remove()
		freed := time.Now()
		run = r.Ended(id)
		if run.State != engine.Stopped || run.Steps[0].State != engine.Succeeded || run.Steps[1].State != engine.Planned || len(r.Sent(id)) != 1 {
			r.Errorf("%s %v, steps %s %s, %d sent", run.State, run.Why, run.Steps[0].State, run.Steps[1].State, len(r.Sent(id)))
		}
		if time.Since(freed) > time.Second {
			r.Errorf("it took %s", time.Since(freed))
		}
		r.Restart()
		time.Sleep(time.Hour)
		if run, err := r.Engine.RunByID(r.Context(), id); err != nil || run.State != engine.Stopped || len(r.Sent(id)) != 1 {
			r.Errorf("after a restart: %v %s", err, run.State)
		}
		undo, err := r.Engine.Undo(r.Context(), Anna, id, "")
		r.Must(err)
		if back := r.Ended(r.Start(undo).ID); back.State != engine.Succeeded {
			r.Errorf("the part that was done is not undone: %s %v", back.State, back.Steps)
		}
	})
}

func TestAStopWhileTheDiskIsFullIsObeyed(t *testing.T) {
	c := Cases()[5]
	c.Release = "5.0"
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "split", At: simcluster.Committing, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		r.Disk.Fail(Nth("save", 1, true), nil)
		if _, err := r.Engine.Stop(r.Context(), Bert, id); err == nil {
			r.Error("nobody was told that it is not on disk")
		}
		rule.Remove()
		time.Sleep(time.Minute)
		r.Disk.Fail(nil, nil)
		if run := r.Ended(id); run.State != engine.Stopped || len(r.Sent(id)) != 1 {
			r.Errorf("%s, %d sent", run.State, len(r.Sent(id)))
		}
	})
}

// Without an audit record a run is stopped all the same; whoever stopped it is told.
func TestAStopIsObeyedWhenItCannotBeRecorded(t *testing.T) {
	c := Cases()[5]
	c.Release = "5.0"
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "split", At: simcluster.Committing, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		r.Disk.Fail(Nth("audit", 1, true), nil)
		_, err := r.Engine.Stop(r.Context(), Bert, id)
		if text := fault.Text(err); fault.Of(err) != fault.Unavailable || !strings.Contains(text, "The run is stopped") ||
			!strings.Contains(text, "audit record: The disk is full") {
			r.Error(err)
		}
		rule.Remove()
		time.Sleep(time.Minute)
		r.Disk.Fail(nil, nil)
		if run := r.Ended(id); run.State != engine.Stopped || len(r.Sent(id)) != 1 {
			r.Errorf("%s, %d sent", run.State, len(r.Sent(id)))
		}
	})
}

func TestManyRequestsForOnePlanAreOneRun(t *testing.T) {
	c := Cases()[0]
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		var mu sync.Mutex
		ids, made := map[string]bool{}, 0
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				run, created, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					r.Error(err)
				}
				ids[run.ID] = true
				if created {
					made++
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if len(ids) != 1 || made != 1 {
			r.Fatalf("%d runs, %d made", len(ids), made)
		}
		for id := range ids {
			r.honest(r.Ended(id))
		}
		if n := len(r.Sim.Faults().Seen("split")); n != 1 {
			r.Errorf("%d commands", n)
		}
	})
}

func TestARunWhoseStepHasNoIntentIsStoppedByARestart(t *testing.T) {
	c := Cases()[0]
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		reached := make(chan struct{})
		r.Disk.Fail(func(w Write) error {
			if w.What == "intent" {
				r.handle.Cut()
				close(reached)
			}
			return nil
		}, nil)
		id := r.Start(p).ID
		<-reached
		r.Disk.Fail(nil, nil)
		r.Restart()
		run := r.Ended(id)
		if run.State != engine.Stopped || run.Why.Code != "run.restarted" || run.Steps[0].State != engine.Planned || len(r.Sent(id)) != 0 {
			r.Errorf("%s %v, step %s", run.State, run.Why, run.Steps[0].State)
		}
	})
}

func TestARunningMigrationShowsHowFarItIs(t *testing.T) {
	c := Cases()[3]
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.CaughtUp, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		time.Sleep(5 * time.Second)
		run, err := r.Engine.RunByID(r.Context(), id)
		r.Must(err)
		if got := run.Steps[0].Progress; got.Total != 6 || got.Done == 0 || len(run.Steps[0].Events) == 0 {
			r.Errorf("%+v %d events", got, len(run.Steps[0].Events))
		}
		rule.Remove()
		r.honest(r.Ended(id))
	})
}
