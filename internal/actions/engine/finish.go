package engine

import (
	"context"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

// CanFinish reports whether the rest of the run can be planned: it ended before it
// reached its goal and was not undone.
func (r Run) CanFinish() bool {
	return r.Kind != Unreadable && (r.State == Failed || r.State == Refused || r.State == Stopped)
}

// Finish plans the rest of a run that ended early, from the current table. The plan
// is like any other: it is checked, confirmed, run and undone on its own.
func (e *Engine) Finish(ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error) {
	p, err := e.planFinish(ctx, by, run, reason)
	if err != nil {
		return actions.Plan{}, e.auditRefusal(ctx, by, auditPlanRefused, run, map[string]string{"finishOf": run}, err)
	}
	return p, nil
}

func (e *Engine) planFinish(ctx context.Context, by auth.Principal, id, reason string) (actions.Plan, error) {
	if !by.May(auth.Operator) {
		return actions.Plan{}, roleError(auth.Operator)
	}
	run, err := e.endedRun(ctx, id)
	if err != nil {
		return actions.Plan{}, err
	}
	switch {
	case run.State == Undone:
		return actions.Plan{}, fault.New(fault.Conflict, "This run was undone. To make the change again, make a new plan.")
	case !run.CanFinish():
		return actions.Plan{}, fault.New(fault.Conflict, "This run did everything that it planned; nothing is left to finish.")
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		reason = "Finish run " + id
	}
	if run.UndoOf != "" {
		return e.makePlan(ctx, by, Request{Reason: reason, UndoOf: run.UndoOf})
	}
	if run.IsBatch() {
		if run.Args, err = e.restOfBatch(ctx, run); err != nil {
			return actions.Plan{}, err
		}
	}
	return e.makePlan(ctx, by, Request{Kind: run.Kind, Args: run.Args, Reason: reason})
}
