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
		if err != nil || !run.State.Open() || run.Why.Code != "run.unsaved" {
			r.Fatalf("%v %s %v", err, run.State, run.Why)
		}
		r.checkNothingAccepted(id)
		if sent := r.Sent(id); len(sent) > 0 {
			r.Errorf("%v was sent without a record", sent)
		}
		r.Disk.Fail(nil, nil)
		r.handle.RefuseWrites(nil)
		run = r.WaitEnd(id)
		if run.State != engine.Failed || run.Why.Code != "step.noIntent" || len(r.Sent(id)) > 0 {
			r.Errorf("%s %v, sent %v", run.State, run.Why, r.Sent(id))
		}
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

func TestStopIsObeyedWhileTheDataDirectoryIsLost(t *testing.T) {
	c := moveInThreeSteps()
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "split", At: simcluster.Committing, Hold: true})
		id := r.Start(p).ID
		<-rule.Reached()
		r.handle.RefuseWrites(errLost)
		rule.Remove()
		time.Sleep(time.Minute)
		if _, err := r.Engine.Stop(r.Context(), Bert, id); !errors.Is(err, errLost) || !strings.Contains(fault.Text(err), "The run is stopped") {
			r.Errorf("Stop returned %v", err)
		}
		r.handle.RefuseWrites(nil)
		if run := r.WaitEnd(id); run.State != engine.Stopped || run.StopBy != Bert.ID || len(r.Sent(id)) != 1 {
			r.Errorf("%s by %q, %d sent", run.State, run.StopBy, len(r.Sent(id)))
		}
	})
}
