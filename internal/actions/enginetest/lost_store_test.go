package enginetest

import (
	"errors"
	"testing"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
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
