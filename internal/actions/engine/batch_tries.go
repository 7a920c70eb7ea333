package engine

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

// itemTry is what is stored before an item of a batch begins, as an intent of the batch: which
// run belongs to it. The intents of a batch are numbered in the order in which its items began.
type itemTry struct {
	Item int    `bson:"item"`
	Plan string `bson:"plan"` // "": nothing was left to do, so there is no run
	Run  string `bson:"run"`
	Seq  int    `bson:"-"`
}

// Codes of runs that ended without a failure of their own.
const (
	restarted = "run.restarted"
	notBegun  = "run.notBegun"
)

// recordTry saves that an item begins with a run.
func (b *batchRun) recordTry(item *batchItem, plan, run string) error {
	doc, err := bson.Marshal(itemTry{Item: item.Number, Plan: plan, Run: run})
	if err != nil {
		return fmt.Errorf("encode a try: %w", err)
	}
	ctx, cancel := context.WithTimeout(b.x.ctx, saveTimeout)
	defer cancel()
	record := store.IntentRecord{Run: b.x.id, Step: b.tries, At: b.x.e.now(), Command: doc}
	b.tries++ // also after an error: the write may have reached the disk
	return b.x.e.opts.Journal.AddIntent(ctx, record)
}

// startItem saves the plan of an item, that its run belongs to it, and the run, in this order,
// and starts the run. After a crash in between there is a run, or nothing was sent.
func (b *batchRun) startItem(item *batchItem, p actions.Plan) (*execution, error) {
	e, x := b.x.e, b.x
	r := x.current()
	by := auth.Principal{ID: r.By, Name: r.ByName, Role: auth.Operator}
	var err error
	if p.ID, err = e.newID(); err != nil {
		return nil, err
	}
	p.By, p.Made, p.Expires = by, e.now(), e.now().Add(Expiry)
	record, err := encodePlan(p)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(x.ctx, saveTimeout)
	defer cancel()
	if err := e.opts.Journal.SavePlan(ctx, record); err != nil {
		return nil, fmt.Errorf("save plan: %w", err)
	}
	run, err := e.newRun(by, p, nil)
	if err != nil {
		return nil, err
	}
	run.Parent, run.Item = x.id, item.Number
	if err := b.recordTry(item, p.ID, run.ID); err != nil {
		return nil, fmt.Errorf("save which run an item has: %w", err)
	}
	child, err := e.startRun(ctx, x.term, by, p.Hash, run)
	if err != nil {
		b.awaitUnsaved(child)
		return nil, err
	}
	return child, nil
}

// awaitUnsaved waits until a run that could not be saved is known to be stopped or not there.
func (b *batchRun) awaitUnsaved(child *execution) {
	if child == nil || b.x.e.executionOf(child.id) == nil {
		return
	}
	select {
	case <-child.done:
	case <-b.x.ctx.Done():
	}
}

// loadBatch reads what became of the items so far. It returns false when the process ends.
func (x *execution) loadBatch() (*batchRun, bool) {
	b := &batchRun{x: x, ended: make(chan endedItem), again: map[int]int{}}
	loaded := retrySaving(x.ctx, func() bool {
		err := b.load()
		if err != nil && x.ctx.Err() == nil {
			x.e.opts.Log.Error("read the items of a batch; trying again", "run", x.id, "err", err)
		}
		return err == nil
	})
	if !loaded {
		return nil, false
	}
	for _, item := range b.items {
		if item.state == Running && !b.takeOver(item) {
			return nil, false
		}
	}
	return b, b.saveCounts()
}

// load reads the plan, the tries and the problems.
func (b *batchRun) load() error {
	ctx, cancel := context.WithTimeout(b.x.ctx, readTimeout)
	defer cancel()
	var err error
	if b.plan, err = b.x.e.PlanByID(ctx, b.x.current().Plan); err != nil {
		return err
	}
	tries, err := b.x.e.triesOf(ctx, b.x.id)
	if err != nil {
		return err
	}
	b.items, b.tries = nil, 0
	for _, item := range planItems(b.plan) {
		b.items = append(b.items, &batchItem{Item: item, state: Planned})
	}
	for _, t := range tries {
		b.tries = t.Seq + 1
		if t.Item < 1 || t.Item > len(b.items) {
			continue
		}
		item := b.items[t.Item-1]
		if item.run = t.Run; t.Run == "" {
			item.state = Succeeded
		} else {
			item.state = Running // until its run was looked up
		}
	}
	for _, t := range b.x.current().Batch.Problems {
		item := b.items[t.Item-1]
		if item.run != t.Run {
			continue // there is a newer run
		}
		switch t.State {
		case TrialRetry:
			item.state = Planned
		case TrialWaits:
			item.state = Failed
		case TrialSkip:
			item.state = Skipped
		}
	}
	return nil
}

// takeOver looks up the last run of an item, follows it while it is open, and settles it when
// it has ended. An item whose run was never saved has not begun.
func (b *batchRun) takeOver(item *batchItem) bool {
	var run Run
	var missing bool
	read := retrySaving(b.x.ctx, func() bool {
		if child := b.x.e.executionOf(item.run); child != nil {
			b.follow(item, child)
			return true
		}
		var err error
		run, err = b.x.e.RunByID(b.x.ctx, item.run)
		missing = fault.Of(err) == fault.NotFound
		return err == nil || missing
	})
	switch {
	case !read:
		return false
	case run.ID == "" && !missing: // is followed
		return true
	case missing:
		item.state = Planned
		return b.saveItem(item, nil)
	case run.didAll() && !slices.Contains(b.x.current().Batch.Open, OpenItem{Item: item.Number, Run: run.ID}):
		item.state = Succeeded // as an earlier process found it
		return true
	case run.State.Open(): // only a version of the program that can read it may go on with it
		item.state = Failed
		return b.saveItem(item, &ItemTrial{Item: item.Number, Run: run.ID, Tries: 1, State: TrialWaits,
			Why: message.New("batch.unreadable", "Its run {run} is unreadable.", message.Text("run", run.ID))})
	}
	return b.settle(item.Number, run)
}

// triesOf reads which runs the items of a batch have had, oldest first.
func (e *Engine) triesOf(ctx context.Context, batch string) ([]itemTry, error) {
	records, err := e.opts.Journal.Intents(ctx, batch)
	if err != nil {
		return nil, fmt.Errorf("read which runs the items have: %w", err)
	}
	out := make([]itemTry, 0, len(records))
	for _, r := range records {
		t := itemTry{Seq: r.Step}
		if err := bson.Unmarshal(r.Command, &t); err != nil {
			return nil, fmt.Errorf("decode a try of an item: %w", err)
		}
		out = append(out, t)
	}
	return out, nil
}
