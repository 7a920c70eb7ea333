package app

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"shardboard/internal/api"
)

// Refusal is an error answer with details: what changed, or which checks block.
type Refusal struct {
	Problem api.Problem
	Err     error // the error with its kind
}

func (e *Refusal) Error() string { return e.Err.Error() }

// Unwrap returns the error with its kind.
func (e *Refusal) Unwrap() error { return e.Err }

// MakePlan makes a plan; it changes nothing in the cluster.
func (r Remote) MakePlan(ctx context.Context, in api.PlanRequest) (p api.Plan, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/plans", in, &p)
	return p, err
}

// Plan returns a plan.
func (r Remote) Plan(ctx context.Context, id string) (p api.Plan, err error) {
	err = r.Get(ctx, api.Prefix+"/plans/"+url.PathEscape(id), &p)
	return p, err
}

// RunPlan starts a plan, or returns the run that this caller has already started from it, so that
// repeating a request whose answer was lost starts nothing twice.
func (r Remote) RunPlan(ctx context.Context, id string, in api.PlanRun) (run api.Run, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/plans/"+url.PathEscape(id)+"/run", in, &run)
	return run, err
}

// ApprovePlan approves a plan of somebody else.
func (r Remote) ApprovePlan(ctx context.Context, id string, in api.PlanApprove) (p api.Plan, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/plans/"+url.PathEscape(id)+"/approve", in, &p)
	return p, err
}

// RefusePlan says that a plan must not be run, or takes an approval back.
func (r Remote) RefusePlan(ctx context.Context, id, reason string) (p api.Plan, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/plans/"+url.PathEscape(id)+"/refuse", api.PlanRefuse{Reason: reason}, &p)
	return p, err
}

// Run returns a run.
func (r Remote) Run(ctx context.Context, id string) (run api.Run, err error) {
	err = r.Get(ctx, api.Prefix+"/runs/"+url.PathEscape(id), &run)
	return run, err
}

// Runs returns the newest runs.
func (r Remote) Runs(ctx context.Context, limit int) (list api.List[api.Run], err error) {
	err = r.Get(ctx, fmt.Sprintf("%s/runs?limit=%d", api.Prefix, limit), &list)
	return list, err
}

// StopRun stops a run before its next command.
func (r Remote) StopRun(ctx context.Context, id string) (run api.Run, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/runs/"+url.PathEscape(id)+"/stop", nil, &run)
	return run, err
}

// FinishRun plans the remaining steps of a run that ended early; reason may be "".
func (r Remote) FinishRun(ctx context.Context, id, reason string) (p api.Plan, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/runs/"+url.PathEscape(id)+"/finish", api.PlanUndo{Reason: reason}, &p)
	return p, err
}

// UndoRun plans the inverse of a run; reason may be "".
func (r Remote) UndoRun(ctx context.Context, id, reason string) (p api.Plan, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/runs/"+url.PathEscape(id)+"/undo", api.PlanUndo{Reason: reason}, &p)
	return p, err
}

// PauseRun pauses a batch.
func (r Remote) PauseRun(ctx context.Context, id string) (run api.Run, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/runs/"+url.PathEscape(id)+"/pause", nil, &run)
	return run, err
}

// ResumeRun lets a batch go on, or decides about one of its items.
func (r Remote) ResumeRun(ctx context.Context, id string, in api.RunResume) (run api.Run, err error) {
	err = r.Do(ctx, "POST", api.Prefix+"/runs/"+url.PathEscape(id)+"/resume", in, &run)
	return run, err
}

// BatchItems lists items of a batch from a cursor on.
func (r Remote) BatchItems(ctx context.Context, id string, limit int, cursor string) (list api.List[api.BatchItem], err error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	err = r.Get(ctx, api.Prefix+"/runs/"+url.PathEscape(id)+"/items?"+q.Encode(), &list)
	return list, err
}
