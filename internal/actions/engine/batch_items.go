package engine

import (
	"context"
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
)

// BatchItem is an item of a batch and what has become of it.
type BatchItem struct {
	operation.Item
	State State           // Planned, or that of its last run; Succeeded without a run: nothing was left to do; Skipped
	Run   string          // its last run; "": none
	Tries int             // runs that it has had
	Why   message.Message // of a failure
	Began time.Time
	Ended time.Time
}

// itemsPageLimit is the largest number of items on a page.
const itemsPageLimit = 200

// BatchItems lists items of a batch by number, those after a number. It reads the runs of these
// items only.
func (e *Engine) BatchItems(ctx context.Context, id string, after, limit int) ([]BatchItem, error) {
	run, err := e.RunByID(ctx, id)
	if err != nil {
		return nil, err
	}
	if !run.IsBatch() {
		return nil, fault.New(fault.NotFound, "This run is not a batch, so it has no items.")
	}
	if limit <= 0 || limit > itemsPageLimit {
		limit = itemsPageLimit
	}
	return e.itemsOf(ctx, run, after, limit)
}

func (e *Engine) itemsOf(ctx context.Context, run Run, after, limit int) ([]BatchItem, error) {
	plan, err := e.PlanByID(ctx, run.Plan)
	if err != nil {
		return nil, err
	}
	tries, err := e.triesOf(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	items := planItems(plan)
	from := min(max(after, 0), len(items))
	out := make([]BatchItem, 0, min(limit, len(items)-from))
	for _, item := range items[from:min(from+limit, len(items))] {
		x := BatchItem{Item: *item, State: Planned}
		for _, t := range tries {
			if t.Item == item.Number {
				x.Run, x.State = t.Run, Succeeded
				if t.Run != "" {
					x.Tries++
				}
			}
		}
		if err := e.addItemRun(ctx, run, &x); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// addItemRun adds what became of an item: of its last run, and what the batch or a person has
// decided since.
func (e *Engine) addItemRun(ctx context.Context, batch Run, x *BatchItem) error {
	if x.Run != "" {
		child, err := e.RunByID(ctx, x.Run)
		switch {
		case err == nil:
			x.State, x.Why, x.Began, x.Ended = child.State, child.Why, child.Started, child.Ended
			if child.didAll() {
				x.State, x.Why = Succeeded, message.Message{}
			}
		case fault.Of(err) == fault.NotFound: // the program ended before it was saved
			x.State, x.Run = Planned, ""
		default:
			return err
		}
	}
	i := batch.Batch.trial(x.Number)
	if i < 0 {
		return nil
	}
	t := batch.Batch.Problems[i]
	switch {
	case t.State == TrialSkip:
		x.State, x.Why = Skipped, t.Why
	case t.Run == x.Run && t.State == TrialWaits && !x.State.Open():
		x.Why = t.Why
		if x.State == Succeeded || x.State == Planned {
			x.State = Refused
		}
	case t.Run == x.Run && x.Run == "":
		x.Why = t.Why
	}
	return nil
}

// restOfBatch are the arguments of a batch of the items that are neither done nor undone.
func (e *Engine) restOfBatch(ctx context.Context, run Run) (actions.Args, error) {
	a := run.Args
	items, err := e.itemsOf(ctx, run, 0, actions.MostItems)
	if err != nil {
		return a, err
	}
	for _, x := range items {
		if x.State != Succeeded && x.State != Undone {
			of, err := actions.ItemArgs(&x.Item)
			if err != nil {
				return a, err
			}
			a.Plans = append(a.Plans, actions.PlannedChange{Kind: x.Kind, Args: of})
		}
	}
	return a, nil
}

// OpenBatches are the batches that have not ended, oldest first.
func (e *Engine) OpenBatches() (open []Run) {
	for _, r := range e.runsInMemory() {
		if r.IsBatch() && r.State.Open() && r.Cluster == e.clusterID() {
			open = append(open, r)
		}
	}
	slices.SortFunc(open, func(a, b Run) int { return a.Started.Compare(b.Started) })
	return open
}
