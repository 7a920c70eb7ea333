package app

import (
	"context"
	"fmt"
	"net/url"

	"shardboard/internal/api"
)

// Refusal is an error answer that says more than its sentence: what changed, or
// which checks block.
type Refusal struct {
	Problem api.Problem
	Err     error // the classified error
}

func (e *Refusal) Error() string { return e.Err.Error() }

// Unwrap gives the classification.
func (e *Refusal) Unwrap() error { return e.Err }

// MakePlan asks for a plan; nothing is changed by it.
func (r Remote) MakePlan(ctx context.Context, in api.PlanRequest) (p api.Plan, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/plans", in, &p)
	return p, err
}

// Plan gives a plan.
func (r Remote) Plan(ctx context.Context, id string) (p api.Plan, err error) {
	err = r.Get(ctx, api.Prefix+"/plans/"+url.PathEscape(id), &p)
	return p, err
}

// RunPlan starts a plan, or gives the run that this caller has started of it:
// asking again after an answer that did not come starts nothing twice.
func (r Remote) RunPlan(ctx context.Context, id string, in api.PlanRun) (run api.Run, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/plans/"+url.PathEscape(id)+"/run", in, &run)
	return run, err
}

// Run gives a run.
func (r Remote) Run(ctx context.Context, id string) (run api.Run, err error) {
	err = r.Get(ctx, api.Prefix+"/runs/"+url.PathEscape(id), &run)
	return run, err
}

// Runs lists the newest runs.
func (r Remote) Runs(ctx context.Context, limit int) (list api.List[api.Run], err error) {
	err = r.Get(ctx, fmt.Sprintf("%s/runs?limit=%d", api.Prefix, limit), &list)
	return list, err
}

// StopRun holds a run before its next command.
func (r Remote) StopRun(ctx context.Context, id string) (run api.Run, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/runs/"+url.PathEscape(id)+"/stop", nil, &run)
	return run, err
}

// FinishRun plans what a run that has ended early has left to do; reason may be "".
func (r Remote) FinishRun(ctx context.Context, id, reason string) (p api.Plan, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/runs/"+url.PathEscape(id)+"/finish", api.PlanUndo{Reason: reason}, &p)
	return p, err
}

// UndoRun plans the inverse of a run; reason may be "".
func (r Remote) UndoRun(ctx context.Context, id, reason string) (p api.Plan, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/runs/"+url.PathEscape(id)+"/undo", api.PlanUndo{Reason: reason}, &p)
	return p, err
}
