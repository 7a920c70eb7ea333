package engine

import (
	"context"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

// CanFinish tells whether a plan for the rest can be made: the run has ended
// before its goal and was not undone.
func (r Run) CanFinish() bool {
	return r.Kind != Unreadable && (r.State == Failed || r.State == Refused || r.State == Stopped)
}

// Finish plans the rest of a run that has ended early, from the current table. The
// plan is like any other: it is checked, confirmed, run and undone by itself.
func (e *Engine) Finish(ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error) {
	p, err := e.finishPlan(ctx, by, run, reason)
	if err != nil {
		return actions.Plan{}, e.refuse(ctx, by, auditPlanRefused, run, map[string]string{"finishOf": run}, err)
	}
	return p, nil
}

func (e *Engine) finishPlan(ctx context.Context, by auth.Principal, id, reason string) (actions.Plan, error) {
	if !by.May(auth.Operator) {
		return actions.Plan{}, errRole(auth.Operator)
	}
	run, err := e.RunByID(ctx, id)
	if err != nil {
		return actions.Plan{}, err
	}
	switch {
	case run.Kind == Unreadable:
		return actions.Plan{}, errUnknownSteps
	case run.State.Open():
		return actions.Plan{}, fault.New(fault.Conflict, "This run has not ended. Stop it, or wait.")
	case run.State == Undone:
		return actions.Plan{}, fault.New(fault.Conflict, "This run is undone. To make the change after all, make a new plan.")
	case !run.CanFinish():
		return actions.Plan{}, fault.New(fault.Conflict, "This run has done everything: nothing is left to finish.")
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		reason = "Finish run " + id
	}
	if run.UndoOf != "" {
		return e.make(ctx, by, Request{Reason: reason, UndoOf: run.UndoOf})
	}
	return e.make(ctx, by, Request{Kind: run.Kind, Args: run.Args, Reason: reason})
}
