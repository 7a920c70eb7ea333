package enginetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
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
						// After a reported failure the run may only appear as stopped, here or after a restart.
						r.Disk.Fail(nil, nil)
						if how == "from" {
							r.Restart()
						}
						if run, err = r.Engine.RunOfPlan(r.Context(), p.ID); err != nil {
							expect.That(r, len(r.Sim.Faults().Seen(c.Command)) == 0, "no run, and something was sent")
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
				if testing.Short() && (i+n)%29 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s write %d", c.Name, when, n), func(t *testing.T) {
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
	restarted := time.Now()
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
		expect.That(r, !s.Sends() || s.Sent.Before(restarted), "the next process sends the rest by itself")
	}
	r.checkStartAudited(run.ID)
	r.checkAudited(run)
	if _, created, err := r.RunPlan(Anna, p); created || err != nil {
		r.Errorf("its plan ran again: %v %v", created, err)
	}
}

var errLost = fault.New(fault.Unavailable, "The data directory was moved or deleted.")

// The directory disappears between the intent and the command. The run then reports
// that it cannot be saved, and ends when the directory is back.
func TestNoCommandIsSentWhenTheDataDirectoryIsLostAfterTheIntent(t *testing.T) {
	c := caseNamed("split at a key") // all kinds behave the same
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		intended := false
		r.Disk.Fail(nil, func(w Write) error {
			if intended && w.What == "save" { // the last write before the command
				r.handle.RefuseWrites(errLost)
			}
			intended = intended || w.What == "intent"
			return nil
		})
		id := r.Start(p).ID
		time.Sleep(10 * time.Minute)
		run, err := r.Engine.RunByID(r.Context(), id)
		must.That(r, err == nil && run.State.Open() && run.Why.Code == "run.unsaved", "%v %s %v", err, run.State, run.Why)
		r.checkNothingAccepted(id)
		if sent := r.Sent(id); len(sent) > 0 {
			r.Errorf("%v was sent without a record", sent)
		}
		r.Disk.Fail(nil, nil)
		r.handle.RefuseWrites(nil)
		run = r.WaitEnd(id)
		expect.That(r, run.State == engine.Failed && run.Why.Code == "step.noIntent" && len(r.Sent(id)) == 0,
			"%s %v, sent %v", run.State, run.Why, r.Sent(id))
		r.checkReported(run)
	})
}

func (r *Rig) checkNothingAccepted(run string) {
	r.Helper()
	by := auth.Principal{ID: "user:late", Role: auth.Operator}
	for what, ask := range map[string]func() error{
		"a plan": func() error {
			_, err := r.Engine.Plan(r.Context(), by, engine.Request{Kind: "balancer-on", Reason: "test"})
			return err
		},
		"a run":  func() error { _, _, err := r.Engine.Run(r.Context(), by, "x", engine.RunRequest{}); return err },
		"a stop": func() error { _, err := r.Engine.Stop(r.Context(), by, run); return err },
	} {
		if err := ask(); !errors.Is(err, errLost) {
			r.Errorf("%s: %v", what, err)
		}
	}
}

// failingReads is a journal whose open runs cannot be read a few times.
type failingReads struct {
	engine.Journal
	left *atomic.Int64
}

func (b failingReads) OpenRuns(ctx context.Context, cluster string) ([]store.RunRecord, error) {
	if b.left.Add(-1) >= 0 {
		return nil, ErrDisk
	}
	return b.Journal.OpenRuns(ctx, cluster)
}

// A disk that cannot be read at the start does not end the process.
func TestOpenRunsAreTakenOverOnceTheJournalCanBeRead(t *testing.T) {
	c := caseNamed("move")
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		id, rule := r.startAndHold(p, simcluster.Rule{Command: c.Command, At: simcluster.Received})
		r.Kill()
		rule.Remove()
		var left atomic.Int64
		left.Store(4)
		r.wrap = func(o *engine.Options) { o.Journal = failingReads{o.Journal, &left} }
		r.Boot()
		time.Sleep(time.Minute)
		run := r.WaitEnd(id)
		expect.That(r, run.State == engine.Succeeded && run.Resolved && left.Load() < 0,
			"%s, resolved %v, %v", run.State, run.Resolved, run.Why)
		r.checkReported(run)
	})
}
