package enginetest

import (
	"testing"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

// The line dies while the command is at work, and comes back much later.
func TestAnOutcomeIsSettledWithinAMinuteAfterTheLineIsBack(t *testing.T) {
	for _, at := range []simcluster.Step{simcluster.Received, simcluster.Replying} {
		onCases(t, func(r *Rig, c Case) {
			p := c.Plan(r)
			rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: at, Hold: true, Cut: true})
			id := r.Start(p).ID
			<-rule.Reached()
			r.Line.Cut()
			rule.Remove()
			time.Sleep(10 * time.Minute)
			if run, err := r.Engine.RunByID(r.Context(), id); err != nil || run.State != engine.Unknown {
				r.Fatalf("%v %s", err, run.State)
			}
			r.Line.Mend()
			mended := time.Now()
			run := r.Ended(id)
			if took := time.Since(mended); took > time.Minute || !run.Resolved {
				r.Errorf("%s after %s, resolved %v", run.State, took, run.Resolved)
			}
			if (at == simcluster.Replying) != (run.State == engine.Succeeded) {
				r.Errorf("%s: %s", at, run.State)
			}
			r.honest(run)
		})
	}
}

// A frozen config server answers nobody: neither the command nor our questions.
func TestAFrozenConfigServerLeavesTheOutcomeOpenUntilItThaws(t *testing.T) {
	onCases(t, func(r *Rig, c Case) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Freeze: "config"})
		id := r.Start(p).ID
		<-rule.Reached()
		time.Sleep(10 * time.Minute)
		if run, err := r.Engine.RunByID(r.Context(), id); err != nil || !run.State.Open() {
			r.Fatalf("%v %s %v", err, run.State, run.Why)
		}
		r.Sim.Faults().Heal()
		thawed := time.Now()
		run := r.Ended(id)
		if took := time.Since(thawed); took > time.Minute {
			r.Errorf("%s after %s", run.State, took)
		}
		time.Sleep(5 * time.Minute)
		r.honest(run)
	})
}

// Our own questions get no answer either, and may take as long as they like.
func TestAnOutcomeIsShownAsUnknownBeforeTheClusterIsAsked(t *testing.T) {
	c := Cases()[0]
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Hold: true, Cut: true})
		id := r.Start(p).ID
		<-rule.Reached()
		r.Line.Cut()
		rule.Remove()
		time.Sleep(time.Second)
		if run, err := r.Engine.RunByID(r.Context(), id); err != nil || run.State != engine.Unknown {
			r.Errorf("%v, %s a second after the line was cut", err, run.State)
		}
		r.Line.Mend()
		r.honest(r.Ended(id))
	})
}
