package engine

import (
	"context"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
)

// draftBatchUndo drafts the undo of a batch: the undo of each of its runs that has changed
// something and was not undone by itself, the last first. undoes is false for another run.
func (e *Engine) draftBatchUndo(ctx context.Context, s actions.Situation, r Request) (d actions.Draft, _ Request, undoes bool, err error) {
	run, err := e.undoableRun(ctx, r.UndoOf)
	if err != nil || !run.IsBatch() {
		return d, r, false, err
	}
	switch {
	case run.State == Undone:
		return d, r, true, fault.Wrap(fault.Conflict, errNothingToUndo, "This run has already been undone.")
	case run.UndoOf != "":
		return d, r, true, fault.New(fault.Conflict,
			"This run undid another one. To reverse it, make the plan of that run again.")
	}
	done, err := e.doneItems(ctx, run)
	if err != nil {
		return d, r, true, err
	}
	if len(done) == 0 {
		return d, r, true, fault.Wrap(fault.Conflict, errNothingToUndo, "Nothing is left to undo: no item of this batch has changed anything, "+
			"or all of them were undone already.")
	}
	r.Kind = actions.Batch
	d, r.Args, err = actions.PlanBatchUndo(s, run.Args, run.Summary, done)
	return d, r, true, err
}

// doneItems are the runs of a batch that can be undone, the last first, in the groups in which
// they were run.
func (e *Engine) doneItems(ctx context.Context, batch Run) ([]actions.DoneItem, error) {
	plan, err := e.PlanByID(ctx, batch.Plan)
	if err != nil {
		return nil, err
	}
	tries, err := e.triesOf(ctx, batch.ID)
	if err != nil {
		return nil, err
	}
	items := planItems(plan)
	slices.Reverse(tries)
	slices.SortStableFunc(tries, func(a, b itemTry) int { return groupOf(items, b.Item) - groupOf(items, a.Item) })
	var out []actions.DoneItem
	group, last := 0, 0
	for _, t := range tries {
		if t.Run == "" {
			continue
		}
		run, err := e.RunByID(ctx, t.Run)
		if fault.Of(err) == fault.NotFound {
			continue // it was never saved
		}
		if err != nil {
			return nil, err
		}
		if !run.CanUndo() {
			continue
		}
		of, err := e.PlanByID(ctx, run.Plan)
		if err != nil {
			return nil, err
		}
		if g := groupOf(items, t.Item); g != last {
			group, last = group+1, g
		}
		out = append(out, actions.DoneItem{Run: run.ID, Group: group, Kind: run.Kind, Args: run.Args, Summary: run.Summary,
			Done: run.stepsDone(), Effect: of.Effect})
	}
	return out, nil
}

func groupOf(items []*operation.Item, number int) int {
	if number < 1 || number > len(items) {
		return 0
	}
	return items[number-1].Group
}

// adaptBatch checks that a batch still fits the cluster. Each item is planned again when its
// turn comes; here it is enough that all can still be planned within their limits.
func (e *Engine) adaptBatch(ctx context.Context, p actions.Plan) (*Adaptation, error) {
	s, fresh, err := e.planFromCluster(ctx, Request{Kind: p.Kind, Args: p.Args, UndoOf: p.UndoOf})
	changed := checkUnchanged(s, p, fresh, err)
	if changed == nil || err != nil || fresh.Blocked() || fresh.Hash == p.Hash || actions.MaintenanceClosed(p.Checks, fresh.Checks) != nil {
		return nil, changed
	}
	old, now := planItems(p), planItems(fresh)
	if len(old) != len(now) {
		return nil, changed
	}
	a := &Adaptation{At: e.now(), Before: len(old), After: len(now)}
	for i, x := range now {
		if x.UndoOf != old[i].UndoOf || x.Kind != old[i].Kind {
			return nil, changed
		}
		over := actions.Draft{Steps: x.Steps, Limits: x.Limits, Effect: actions.Effect{Bytes: x.Bytes}}.Exceeds(old[i].Limits, 0)
		if len(over) > 0 {
			return nil, changedError(over, "The cluster has changed since the plan was made, and item %d exceeds the limits that were shown. "+
				"Make the plan again.", x.Number)
		}
	}
	a.Because = factDifferences(p, fresh, func(f operation.Fact) map[string]string { return operation.Fields(s.Table, f) })
	return a, nil
}
