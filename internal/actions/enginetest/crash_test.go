package enginetest

import (
	"testing"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

func TestProcessKilledBetweenIntentAndCommandSentNothing(t *testing.T) {
	onCases(t, partsAndWindow, func(r *Rig, c Case) {
		p := c.Plan(r)
		reached := make(chan struct{})
		r.Disk.Fail(nil, func(w Write) error {
			if w.What == "intent" {
				close(reached)
				r.handle.Cut() // nothing after this intent reaches the disk
			}
			return nil
		})
		id := r.Start(p).ID
		<-reached
		r.Disk.Fail(nil, nil)
		r.Restart()
		run := r.WaitEnd(id)
		if run.State != engine.Failed || len(r.Sent(id)) != 0 {
			r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(id)))
		}
		r.checkReported(run)
	})
}

func TestNextProcessResolvesACommandSentBeforeACrash(t *testing.T) {
	for _, at := range []simcluster.Step{simcluster.Received, simcluster.Replying} {
		onCases(t, partsAndWindow, func(r *Rig, c Case) {
			p := c.Plan(r)
			rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: at, Hold: true})
			id := r.Start(p).ID
			<-rule.Reached()
			r.Kill()
			rule.Remove() // the cluster continues with the command
			r.Boot()
			run := r.WaitEnd(id)
			if run.State != engine.Succeeded || !run.Resolved {
				r.Errorf("%s, resolved %v, %v", run.State, run.Resolved, run.Why)
			}
			r.checkReported(run)
			if again, created, err := r.RunPlan(Anna, p); err != nil ||
				created ||
				again.ID != id {
				r.Errorf("the plan ran again: %v %v %v", created, again.ID, err)
			}
		})
	}
}

func TestCommandThatRunsAcrossACrashIsUnknownUntilItEnds(t *testing.T) {
	c := caseNamed("move")
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
		run := r.WaitEnd(id)
		if run.State != engine.Succeeded || time.Since(healed) > time.Minute {
			r.Errorf("%s %v", run.State, run.Why)
		}
		r.checkReported(run)
	})
}

func TestRestartStopsARunWhoseStepHasNoIntent(t *testing.T) {
	c := caseNamed("split at a key")
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
		run := r.WaitEnd(id)
		if run.State != engine.Stopped || run.Why.Code != "run.restarted" || run.Steps[0].State != engine.Planned || len(r.Sent(id)) != 0 {
			r.Errorf("%s %v, step %s", run.State, run.Why, run.Steps[0].State)
		}
	})
}
