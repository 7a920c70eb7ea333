package enginetest

import (
	"testing"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

// The connection breaks while the command is running and returns much later.
func TestOutcomeIsResolvedWithinAMinuteAfterReconnecting(t *testing.T) {
	for _, at := range []simcluster.Step{simcluster.Received, simcluster.Replying} {
		onCases(t, partsAndWindow, func(r *Rig, c Case) {
			p := c.Plan(r)
			rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: at, Hold: true, Cut: true})
			id := r.Start(p).ID
			<-rule.Reached()
			r.Network.Cut()
			rule.Remove()
			time.Sleep(10 * time.Minute)
			if run, err := r.Engine.RunByID(r.Context(), id); err != nil || run.State != engine.Unknown {
				r.Fatalf("%v %s", err, run.State)
			}
			r.Network.Restore()
			restored := time.Now()
			run := r.WaitEnd(id)
			if took := time.Since(restored); took > time.Minute || !run.Resolved {
				r.Errorf("%s after %s, resolved %v", run.State, took, run.Resolved)
			}
			if (at == simcluster.Replying) != (run.State == engine.Succeeded) {
				r.Errorf("%s: %s", at, run.State)
			}
			r.checkReported(run)
		})
	}
}

// A frozen config server answers neither the command nor our reads.
func TestOutcomeStaysOpenWhileTheConfigServerIsFrozen(t *testing.T) {
	onCases(t, moveAndBalancerOn, func(r *Rig, c Case) {
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
		run := r.WaitEnd(id)
		if took := time.Since(thawed); took > time.Minute {
			r.Errorf("%s after %s", run.State, took)
		}
		time.Sleep(5 * time.Minute)
		r.checkReported(run)
	})
}

// Our own reads get no answer either and may take a long time.
func TestOutcomeIsShownAsUnknownBeforeTheClusterIsRead(t *testing.T) {
	c := caseNamed("split at a key")
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: c.Command, At: simcluster.Received, Hold: true, Cut: true})
		id := r.Start(p).ID
		<-rule.Reached()
		r.Network.Cut()
		rule.Remove()
		time.Sleep(time.Second)
		if run, err := r.Engine.RunByID(r.Context(), id); err != nil || run.State != engine.Unknown {
			r.Errorf("%v, %s a second after the network was cut", err, run.State)
		}
		r.Network.Restore()
		r.checkReported(r.WaitEnd(id))
	})
}
