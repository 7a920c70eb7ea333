package engine

import (
	"context"
	"errors"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

// Undo plans the inverse of what a run has done, from the table of now. The run
// counts as undone when that plan has run.
func (e *Engine) Undo(ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error) {
	if strings.TrimSpace(reason) == "" {
		reason = "Undo of run " + run
	}
	p, err := e.make(ctx, by, Request{Reason: reason, UndoOf: run})
	if err != nil {
		return actions.Plan{}, e.refuse(ctx, by, auditPlanRefused, run, map[string]string{"undoOf": run}, err)
	}
	return p, nil
}

// undoDraft drafts the inverse of what a run really did, which may be less than
// its plan said.
func (e *Engine) undoDraft(ctx context.Context, s actions.Situation, id string) (Run, actions.Draft, error) {
	run, err := e.RunByID(ctx, id)
	if err != nil {
		return run, actions.Draft{}, err
	}
	switch {
	case run.Kind == Unreadable:
		return run, actions.Draft{}, errUnknownSteps
	case run.State == Undone:
		return run, actions.Draft{}, fault.New(fault.Conflict, "This run is undone already.")
	case run.State.Open():
		return run, actions.Draft{}, fault.New(fault.Conflict, "This run has not ended. Stop it, or wait.")
	case run.UndoOf != "":
		return run, actions.Draft{}, fault.New(
			fault.Conflict,
			"This run has undone another one, and an undo is not undone. To have it again, make the first plan anew.",
		)
	case !run.CanUndo() && run.sent():
		return run, actions.Draft{}, fault.New(
			fault.Conflict,
			"No command takes back what this run has done: a jumbo flag is set by the balancer alone, and a balancer window that was not "+
				"known cannot be set again.",
		)
	case !run.CanUndo():
		return run, actions.Draft{}, fault.New(fault.Conflict, "This run has done nothing that could be undone.")
	}
	plan, err := e.PlanByID(ctx, run.Plan)
	if err != nil {
		return run, actions.Draft{}, err
	}
	var did []actions.Step
	for _, step := range run.Steps {
		// What the cluster did by itself while a run waited for it counts, however
		// the waiting ended.
		if step.State == Succeeded && step.Already != ByOther || !step.Sends() && !step.Sent.IsZero() {
			did = append(did, step.Step)
		}
	}
	d, err := actions.PlanUndo(s, run.Kind, run.Args, run.Summary, did, plan.Effect)
	var gone *actions.UndoConflictError
	switch {
	case errors.As(err, &gone):
		err = &ChangedError{Differences: gone.Differences, Err: gone.Err}
	case err == nil && len(d.Steps) == 0:
		err = fault.New(fault.Conflict, "There is nothing left to undo: the cluster is as it was before this run.")
	}
	return run, d, err
}
