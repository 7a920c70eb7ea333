package engine

import (
	"context"
	"strconv"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// PlanByID returns a plan.
func (e *base) PlanByID(ctx context.Context, id string) (actions.Plan, error) {
	r, err := e.opts.Journal.PlanRecord(ctx, id)
	if err != nil {
		return actions.Plan{}, err
	}
	return decodePlan(r)
}

// UnrunPlans lists plans that were never run. One that an earlier version wrote and that cannot be read is left out.
func (e *base) UnrunPlans(ctx context.Context, limit int) (out []actions.Plan, err error) {
	rows, err := e.opts.Journal.UnrunPlans(ctx, e.clusterID(), e.opts.Now().Add(-store.PlanKept), limit)
	for _, r := range rows {
		if p, err := decodePlan(r); err == nil {
			out = append(out, p)
		}
	}
	return out, err
}

// RunByID returns the current state of a run.
func (e *Engine) RunByID(ctx context.Context, id string) (Run, error) {
	if x := e.executionOf(id); x != nil {
		return x.current(), nil
	}
	r, err := e.opts.Journal.RunRecord(ctx, id)
	if err != nil {
		return Run{}, err
	}
	return e.readableRun(r), nil
}

// RunOfPlan returns the run of a plan.
func (e *Engine) RunOfPlan(ctx context.Context, plan string) (Run, error) {
	r, err := e.opts.Journal.PlanRun(ctx, plan)
	if err != nil {
		return Run{}, err
	}
	return e.currentRun(r), nil
}

// runsPageLimit is the largest number of runs on a page.
const runsPageLimit = 200

// Runs lists the runs of this cluster, newest first.
func (e *Engine) Runs(ctx context.Context, cursor string, limit int) (runs []Run, next string, err error) {
	var before int64
	if cursor != "" {
		if before, err = strconv.ParseInt(cursor, 10, 64); err != nil || before <= 0 {
			return nil, "", fault.New(fault.Invalid, "This is not a cursor of the list of runs.")
		}
	}
	if limit <= 0 || limit > runsPageLimit {
		limit = runsPageLimit
	}
	rows, err := e.opts.Journal.RunRecords(ctx, e.clusterID(), before, limit)
	if err != nil {
		return nil, "", err
	}
	for _, r := range rows {
		runs = append(runs, e.currentRun(r))
	}
	if len(rows) == limit {
		next = strconv.FormatInt(rows[len(rows)-1].Seq, 10)
	}
	return runs, next, nil
}

// OpenRuns are the runs of this cluster that have not ended, oldest first.
func (e *Engine) OpenRuns(ctx context.Context) (runs []Run, err error) {
	rows, err := e.opts.Journal.OpenRuns(ctx, e.clusterID())
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if run := e.currentRun(r); run.State.Open() {
			runs = append(runs, run)
		}
	}
	return runs, nil
}

// currentRun returns the run from memory while it is open, and decodes its record
// otherwise.
func (e *Engine) currentRun(r store.RunRecord) Run {
	if x := e.executionOf(r.ID); x != nil {
		return x.current()
	}
	return e.readableRun(r)
}

// endedRun returns a run that has ended and can be decoded.
func (e *Engine) endedRun(ctx context.Context, id string) (Run, error) {
	run, err := e.RunByID(ctx, id)
	switch {
	case err != nil:
		return run, err
	case run.Kind == Unreadable:
		return run, errUnreadableRun
	case run.State.Open():
		return run, fault.New(fault.Conflict, "This run has not ended. Stop it, or wait.")
	}
	return run, nil
}
