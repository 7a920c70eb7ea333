package enginetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
)

var errLost = fault.New(fault.Unavailable, "The data directory was moved or deleted.")

// The directory is gone between the intent and its command. The command does not
// leave, the run says that it cannot be saved, and it ends when the directory is back.
func TestNoCommandLeavesWhenItsIntentWentWithTheDirectory(t *testing.T) {
	c := Cases()[0] // what is tested is the same for all kinds
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		intended := false
		r.Disk.Fail(nil, func(w Write) error {
			if intended && w.What == "save" { // that the step runs: the last write before the command
				r.handle.Lose(errLost)
			}
			intended = intended || w.What == "intent"
			return nil
		})
		id := r.Start(p).ID
		time.Sleep(10 * time.Minute)
		run, err := r.Engine.RunByID(r.Context(), id)
		if err != nil || !run.State.Open() || run.Why.Code != "run.unsaved" {
			r.Fatalf("%v %s %v", err, run.State, run.Why)
		}
		r.refusesAll(id)
		if sent := r.Sent(id); len(sent) > 0 {
			r.Errorf("%v was sent without a record", sent)
		}
		r.Disk.Fail(nil, nil)
		r.handle.Lose(nil)
		run = r.Ended(id)
		if run.State != engine.Failed || run.Why.Code != "step.noIntent" || len(r.Sent(id)) > 0 {
			r.Errorf("%s %v, sent %v", run.State, run.Why, r.Sent(id))
		}
		r.honest(run)
	})
}

// refusesAll says that nothing new is accepted.
func (r *Rig) refusesAll(run string) {
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

// A run that waits for its directory is stopped all the same: when the directory is
// back it sends nothing more.
func TestAStopWhileTheDirectoryIsLostIsObeyed(t *testing.T) {
	c := Cases()[5]
	c.Release = "5.0" // cut, cut, move
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "split", At: simcluster.Committing, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		r.handle.Lose(errLost)
		rule.Remove()
		time.Sleep(time.Minute)
		if _, err := r.Engine.Stop(r.Context(), Bert, id); !errors.Is(err, errLost) || !strings.Contains(fault.Text(err), "The run is stopped") {
			r.Errorf("who stops it is told %v", err)
		}
		r.handle.Lose(nil)
		if run := r.Ended(id); run.State != engine.Stopped || run.StopBy != Bert.ID || len(r.Sent(id)) != 1 {
			r.Errorf("%s by %q, %d sent", run.State, run.StopBy, len(r.Sent(id)))
		}
	})
}
