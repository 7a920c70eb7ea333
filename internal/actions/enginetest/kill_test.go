package enginetest

import (
	"fmt"
	"testing"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

// The process ends at every write that a run makes, just before it or just after,
// and the next one finds out what is so.
func TestAProcessThatEndsAtAnyWriteLeavesNothingOpen(t *testing.T) {
	for i, c := range Cases() {
		for _, when := range []string{"before", "after"} {
			for n := 1; n <= 9; n++ {
				if testing.Short() && (i+n)%13 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s write %d", c.Name, when, n), func(t *testing.T) {
					t.Parallel()
					OnWatchedRig(t, c.Setup(), func(r *Rig, _ *Witness) { r.killedAt(c, when, n) })
				})
			}
		}
	}
}

func (r *Rig) killedAt(c Case, when string, n int) {
	r.Helper()
	p := c.Plan(r)
	nth := Nth("", n, false)
	kill := func(w Write) error {
		if nth(w) != nil {
			r.handle.Cut() // nothing gets to the disk any more
		}
		return nil
	}
	if when == "before" {
		r.Disk.Fail(kill, nil)
	} else {
		r.Disk.Fail(nil, kill)
	}
	_, _, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
	time.Sleep(time.Second)
	r.Disk.Fail(nil, nil)
	r.Restart()
	runs := r.Disk.all()
	if len(runs) == 0 {
		if sent := r.Sim.Faults().Seen(c.Command); err == nil || len(sent) > 0 {
			r.Errorf("told of a run that is lost (%v), %d commands sent", err, len(sent))
		}
		return
	}
	run := r.Ended(runs[0].ID)
	w := r.World()
	for _, s := range run.Steps {
		if did := w.Did(s.Step); did != (s.State == engine.Succeeded) {
			r.Errorf("a step is called %s (%s), its effect is there: %v", s.State, s.Why.Code, did)
		}
	}
	r.onRecord(run.ID)
	r.recorded(run)
	if _, created, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm}); created || err != nil {
		r.Errorf("its plan ran again: %v %v", created, err)
	}
}

func TestARunThatWasRefusedForTheDiskIsNotLeftOpen(t *testing.T) {
	c := Cases()[0]
	OnWatchedRig(t, c.Setup(), func(r *Rig, _ *Witness) {
		p := c.Plan(r)
		r.Disk.Fail(nil, Nth("run", 1, false)) // it is written, and nobody knows
		if _, _, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm}); err == nil {
			r.Fatal("the disk failed, and nobody was told")
		}
		time.Sleep(time.Minute)
		run, err := r.Engine.RunOfPlan(r.Context(), p.ID)
		r.Must(err)
		if run.State != engine.Stopped || run.Why.Code != "run.notBegun" || len(r.Sent(run.ID)) != 0 {
			r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(run.ID)))
		}
		r.recorded(run)
	})
}

// Stop comes while the last look at the cluster is on its way, and while a step
// waits for the balancer.
func TestAStopDuringTheLastLookHolds(t *testing.T) {
	onCases(t, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.Disk.Fail(nil, func(w Write) error {
			if w.What == "intent" { // whatever is asked from here on waits
				r.Sim.Faults().Add(simcluster.Rule{At: simcluster.Received, Delay: time.Second, Times: -1})
			}
			return nil
		})
		id := r.Start(p).ID
		time.Sleep(500 * time.Millisecond)
		asked := time.Now()
		_, err := r.Engine.Stop(r.Context(), Bert, id)
		r.Must(err)
		run := r.Ended(id)
		r.Sim.Faults().Heal()
		if run.State != engine.Stopped || run.StopBy != Bert.ID || run.Why.Code != "run.stopped" || len(r.Sent(id)) != 0 {
			r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(id)))
		}
		if took := time.Since(asked); took > time.Minute {
			r.Errorf("it took %s", took)
		}
	})
}

func TestNothingIsFlaggedWhereNobodyElseDoesAnything(t *testing.T) {
	onCases(t, func(r *Rig, c Case) {
		run := r.Ended(r.Start(c.Plan(r)).ID)
		for _, s := range run.Steps {
			if s.State != engine.Succeeded || s.Resolved || s.Why.Code != "" {
				r.Errorf("%s, resolved: %v, %v", s.State, s.Resolved, s.Why)
			}
		}
	})
}

// What another client moves between the last look and the command is found in
// the log, though the command had its effect.
func TestAMoveFromElsewhereIsFlagged(t *testing.T) {
	c := Cases()[3]
	OnWatchedRig(t, c.Setup(), func(r *Rig, _ *Witness) {
		p := c.Plan(r)
		r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Patience: time.Minute,
			Do: simcluster.Move(string(NS), keyDoc(0), "shard-rs-3")})
		run := r.Ended(r.Start(p).ID)
		if s := run.Steps[0]; run.State != engine.Succeeded || s.Why.Code != "step.raced" {
			r.Errorf("%s %v", run.State, s.Why)
		}
	})
}
