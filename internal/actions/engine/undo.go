package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/message"
)

// CanUndo reports whether the run changed anything that can be undone. An undo
// cannot be undone itself: the original plan is made again instead.
func (r Run) CanUndo() bool {
	if r.State.Open() && !r.onlyWaits() || r.State == Undone || r.UndoOf != "" {
		return false
	}
	if r.IsBatch() {
		return r.Batch.Done > 0 || slices.ContainsFunc(r.Batch.Problems, func(t ItemTrial) bool { return t.Run != "" })
	}
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.leavesChange() && s.Invertible() })
}

// Undo plans the inverse of what a run did, from the current table. The run counts
// as undone when that plan has succeeded.
func (e *Engine) Undo(ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error) {
	if strings.TrimSpace(reason) == "" {
		reason = "Undo of run " + run
	}
	p, err := e.makePlan(ctx, by, Request{Reason: reason, UndoOf: run})
	if err != nil {
		return actions.Plan{}, e.auditRefusal(ctx, by, auditPlanRefused, run, map[string]string{"undoOf": run}, err)
	}
	return p, nil
}

// draftUndo drafts the inverse of what a run actually did, which may be less than it
// planned.
func (e *Engine) draftUndo(ctx context.Context, s actions.Situation, id string) (Run, actions.Draft, error) {
	run, err := e.undoableRun(ctx, id)
	if err != nil {
		return run, actions.Draft{}, err
	}
	switch {
	case run.State == Undone:
		return run, actions.Draft{}, fault.Wrap(fault.Conflict, errNothingToUndo, "This run has already been undone.")
	case run.UndoOf != "":
		return run, actions.Draft{}, fault.New(fault.Conflict,
			"This run undid another one. To reverse it, make the plan of that run again.")
	case !run.CanUndo() && slices.ContainsFunc(run.Steps, Step.leavesChange):
		return run, actions.Draft{}, fault.New(fault.Conflict,
			"No command undoes what this run did: only the balancer sets jumbo flags, a balancer window that was not known before "+
				"cannot be set again, and shardboard does not shard collections.")
	case !run.CanUndo():
		return run, actions.Draft{}, fault.New(fault.Conflict, "This run changed nothing that could be undone.")
	}
	plan, err := e.PlanByID(ctx, run.Plan)
	if err != nil {
		return run, actions.Draft{}, err
	}
	d, err := actions.PlanUndo(s, run.Kind, run.Args, run.Summary, run.stepsDone(), plan.Effect)
	if run.State.Open() {
		d.Checks = append(d.Checks, actions.Check{ID: "undo-stops", Verdict: actions.Pass,
			Text:   message.New("undo.stops", "Run {run} is waiting. It is stopped before this undo begins.", message.Text("run", run.ID)),
			Source: message.New("runs", "The runs of shardboard")})
	}
	var conflict *actions.UndoConflictError
	switch {
	case errors.As(err, &conflict):
		err = &ChangedError{Differences: conflict.Differences, Err: conflict.Err}
	case err == nil && len(d.Steps) == 0:
		err = fault.Wrap(fault.Conflict, errNothingToUndo, "There is nothing left to undo: the cluster is as it was before this run.")
	}
	return run, d, err
}

// onlyWaits reports whether the run waits and no command of it is in flight, so that it can be stopped at once.
func (r Run) onlyWaits() bool {
	return r.State == Waiting && r.InFlight() < 0 && !r.IsBatch() && r.Parent == ""
}

// undoableRun returns a run that has ended, or that only waits.
func (e *Engine) undoableRun(ctx context.Context, id string) (Run, error) {
	if run, err := e.RunByID(ctx, id); err == nil && run.onlyWaits() {
		return run, nil
	}
	return e.endedRun(ctx, id)
}

// undoStopTimeout is how long an undo waits until the run that it undoes has stopped. One that waits stops at once, and
// then reads the table and counts rows.
const undoStopTimeout = 10 * time.Second

// stopUndone stops the run that a plan undoes, if that still waits.
func (e *Engine) stopUndone(ctx context.Context, by auth.Principal, id string) error {
	if id == "" {
		return nil
	}
	run, err := e.undoableRun(ctx, id)
	x := e.executionOf(id)
	if err != nil || !run.State.Open() || x == nil {
		return err
	}
	if _, err := e.Stop(ctx, by, id); err != nil {
		return err
	}
	select {
	case <-x.done:
		return nil
	case <-time.After(undoStopTimeout):
	case <-ctx.Done():
	}
	return fault.New(fault.Unavailable, "The run that is undone has been asked to stop and has not stopped yet. "+
		"The undo was not started; run it again in a moment.")
}

// errNothingToUndo reports that what is to be undone is undone already.
var errNothingToUndo = errors.New("nothing is left to undo")

// stepsDone are the steps that had their effect. What the balancer did while the run waited
// for it counts too, however the waiting ended.
func (r Run) stepsDone() (did []operation.Step) {
	for _, step := range r.Steps {
		if step.State == Succeeded && step.Already != ByOther || !step.Sends() && !step.Sent.IsZero() {
			did = append(did, step.Step)
		}
	}
	return did
}
