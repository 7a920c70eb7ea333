package enginetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
)

// Every fault is tried at every step of every command. What is reported must be
// true, and nothing may be sent twice.
func TestReportsAreTrueInTheGridOfFaults(t *testing.T) {
	cases, points := gridCases()
	all := gridFaults()
	if len(points) < 40 || len(all) < 22 {
		t.Fatalf("%d steps, %d faults", len(points), len(all))
	}
	for n, f := range all {
		for i, p := range points {
			c := cases[i]
			if f.applies != nil && !f.applies(c, p) || (n*7+i)%sampleSize(97, 2, 1) != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s/%s", f.name, p.Command, p.At), func(t *testing.T) {
				OnCheckedRig(t, c.Setup(), func(r *Rig, _ *RecordChecker) { r.runCell(c, p, f) })
			})
		}
	}
}

// runCell runs a case with a fault at one of its steps and heals the cluster.
func (r *Rig) runCell(c Case, p simcluster.FaultPoint, f gridFault) {
	r.Helper()
	plan := c.Plan(r)
	id, healed := r.strike(f, p, f.rule(c, plan), plan)
	run := r.WaitEnd(id)
	took := time.Since(healed)
	limit := settleLimit
	if c.Kind == actions.DrainShard { // it goes on until the balancer, as slow as the cluster was, has emptied the shard
		limit = 20 * time.Minute
	}
	if took > limit {
		r.Errorf("settled %s after the cluster was whole", took)
	}
	r.CheckSentOnce(run)
	if !f.otherClient {
		// No command of the run takes effect later, and no effect disappears.
		time.Sleep(3 * time.Minute)
		w := r.ReadState()
		for i, s := range run.Steps {
			if s.State == engine.Deferred || !s.Sends() {
				continue // the next step has the outcome, or it has no effect of its own
			}
			if did := w.HasEffect(s.Step); did != (s.State == engine.Succeeded) {
				r.Errorf("step %d is called %s (%s), its effect is there: %v", i, s.State, s.Why.Code, did)
			}
		}
	}
	if torn := r.ReadState().ChunkGap(); torn != "" {
		r.Error(torn)
	}
	r.checkStartAudited(id)
}

// strike runs a plan with a fault at a step and heals everything. It returns the run and when all was whole.
func (r *Rig) strike(f gridFault, p simcluster.FaultPoint, rule simcluster.Rule, plan actions.Plan) (id string, healed time.Time) {
	r.Helper()
	rule.Command, rule.At = p.Command, p.At
	planted := r.Sim.Faults().Add(rule)
	id = r.Start(plan).ID
	if !r.waitStruck(planted, id) {
		r.Error("the step was not reached")
	} else if f.meanwhile != nil {
		f.meanwhile(r, id)
	}
	time.Sleep(rule.Delay)
	healed = time.Now()
	r.heal()
	return id, healed
}

// heal ends all faults. A process that was killed starts again.
func (r *Rig) heal() {
	r.Helper()
	r.Sim.Faults().Heal()
	r.Network.Restore()
	r.Disk.Fail(nil, nil)
	if r.end == nil {
		r.Boot()
	}
}

// waitStruck waits until a fault has struck or the run has ended without it.
func (r *Rig) waitStruck(rule *simcluster.Planted, id string) bool {
	r.Helper()
	for range 100 {
		select {
		case <-rule.Reached():
			return true
		case <-time.After(time.Second):
		}
		if run := r.runNow(id); !run.State.Open() {
			break
		}
	}
	return rule.Struck() > 0
}

// checkStartAudited fails the test when the start of a run is not in the audit
// record. Later entries may be missing after a full disk or a crash, because the run
// itself still contains them.
func (r *Rig) checkStartAudited(id string) {
	r.Helper()
	if !slices.ContainsFunc(r.Disk.Recorded("run.started"), func(e store.AuditEntry) bool { return e.Subject == id }) {
		r.Error("the beginning of the run is not recorded")
	}
}
