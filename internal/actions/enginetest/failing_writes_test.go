package enginetest

import (
	"fmt"
	"testing"
	"time"

	"shardboard/internal/actions/engine"
)

// Every write of a run fails once: before it takes effect, after it, or together
// with all later writes until the process restarts.
func TestFailedWriteNeverMakesTheRecordWrong(t *testing.T) {
	for _, c := range []Case{caseNamed("move"), caseNamed("split at a key"), caseNamed("zone, remove shard")}[:sampleSize(1, 3, 3)] {
		for _, how := range []string{"before", "after", "from"} {
			for n := 1; n <= 12; n++ {
				OnRig(t, c.Setup(), func(r *Rig) {
					p := c.Plan(r)
					fail := FailNth("", n, how == "from")
					if how == "after" {
						r.Disk.Fail(nil, fail)
					} else {
						r.Disk.Fail(fail, nil)
					}
					run, _, err := r.RunPlan(Anna, p)
					if err != nil {
						// After a reported failure the run may only appear after a restart, as stopped.
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
					run = r.WaitEnd(run.ID)
					r.CheckSentOnce(run)
					if so := r.proofHolds(run); so != (run.State == engine.Succeeded) {
						r.Errorf("%s, %s write %d: the run is reported as %s, but the effect is there: %v", c.Name, how, n, run.State, so)
					}
				})
			}
		}
	}
}

// The process is killed right before or right after every write of a run; the next
// process finds out what happened.
func TestProcessKilledAtAnyWriteLeavesNoRunOpen(t *testing.T) {
	for i, c := range Cases() {
		for _, when := range []string{"before", "after"} {
			for n := 1; n <= 9; n++ {
				if testing.Short() && (i+n)%13 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s write %d", c.Name, when, n), func(t *testing.T) {
					t.Parallel()
					OnCheckedRig(t, c.Setup(), func(r *Rig, _ *RecordChecker) { r.killAt(c, when, n) })
				})
			}
		}
	}
}

func (r *Rig) killAt(c Case, when string, n int) {
	r.Helper()
	p := c.Plan(r)
	nth := FailNth("", n, false)
	kill := func(w Write) error {
		if nth(w) != nil {
			r.handle.Cut() // nothing reaches the disk any more
		}
		return nil
	}
	if when == "before" {
		r.Disk.Fail(kill, nil)
	} else {
		r.Disk.Fail(nil, kill)
	}
	_, _, err := r.RunPlan(Anna, p)
	time.Sleep(time.Second)
	r.Disk.Fail(nil, nil)
	r.Restart()
	runs := r.Disk.allRuns()
	if len(runs) == 0 {
		if sent := r.Sim.Faults().Seen(c.Command); err == nil || len(sent) > 0 {
			r.Errorf("a started run is lost (%v), %d commands sent", err, len(sent))
		}
		return
	}
	run := r.WaitEnd(runs[0].ID)
	w := r.ReadState()
	for _, s := range run.Steps {
		if did := w.HasEffect(s.Step); s.Sends() && did != (s.State == engine.Succeeded) {
			r.Errorf("a step is called %s (%s), its effect is there: %v", s.State, s.Why.Code, did)
		}
	}
	r.checkStartAudited(run.ID)
	r.checkAudited(run)
	if _, created, err := r.RunPlan(Anna, p); created || err != nil {
		r.Errorf("its plan ran again: %v %v", created, err)
	}
}

func TestRunWhoseFirstSaveFailsIsNotLeftOpen(t *testing.T) {
	c := caseNamed("split at a key")
	OnCheckedRig(t, c.Setup(), func(r *Rig, _ *RecordChecker) {
		p := c.Plan(r)
		r.Disk.Fail(nil, FailNth("run", 1, false)) // the record is written, but the write reports an error
		if _, _, err := r.RunPlan(Anna, p); err == nil {
			r.Fatal("the failed save was not reported")
		}
		time.Sleep(time.Minute)
		run, err := r.Engine.RunOfPlan(r.Context(), p.ID)
		r.Must(err)
		if run.State != engine.Stopped || run.Why.Code != "run.notBegun" || len(r.Sent(run.ID)) != 0 {
			r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(run.ID)))
		}
		r.checkAudited(run)
	})
}
