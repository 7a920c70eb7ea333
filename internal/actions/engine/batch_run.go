package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

// batchRun runs the items of a batch. The goroutine of the batch owns it.
type batchRun struct {
	x     *execution
	plan  actions.Plan
	items []*batchItem // by number, from 0
	tries int          // recorded so far: the number of the next one
	ended chan endedItem
	told  bool          // the open items were told to stop
	last  []GateLatency // at the last look at the cluster's health
	again map[int]int   // tries of an item that failed because the cluster could not be read
}

// batchItem is an item and what has become of it.
type batchItem struct {
	*operation.Item
	state     State     // Planned, Running, Succeeded, Failed (waits for a person) or Skipped
	run       string    // id of its last run; "": none
	notBefore time.Time // of the next try
}

// endedItem is an item whose run has ended.
type endedItem struct {
	item int
	run  Run
}

// idleCheck is how often a batch that waits looks at the clock, which can be changed.
const idleCheck = time.Minute

// runBatch runs the items of a batch until all have ended, from wherever it was.
func (x *execution) runBatch() {
	b, ok := x.loadBatch()
	if !ok {
		return
	}
	if !b.readBaseline() {
		return
	}
	for x.ctx.Err() == nil {
		b.applyDecisions()
		switch batch := x.current().Batch; {
		case x.stopRequested():
			if !b.open() {
				b.end()
				return
			}
			b.stopOpen()
		case batch.Hold != nil: // the open items run to their end
		case len(batch.Waiting()) > 0:
			if !b.holdForItems() {
				return
			}
			continue
		case b.finished():
			b.end()
			return
		default:
			began, ok := b.advance()
			if !ok {
				return
			}
			if began {
				continue
			}
		}
		if !b.wait() {
			return
		}
	}
}

// end ends the batch: the last group was checked, or somebody stopped it.
func (b *batchRun) end() {
	x := b.x
	skipped := x.current().Batch.Skipped
	switch {
	case x.stopRequested():
		x.endRun(Stopped, x.stopReason())
	case skipped > 0:
		x.endRun(Stopped, message.New("run.itemsSkipped",
			message.Plural(skipped, "{n} item was skipped; all others have ended.", "{n} items were skipped; all others have ended."),
			message.Count("n", skipped)))
	default:
		x.endRun(Succeeded, message.Message{})
	}
}

func (b *batchRun) open() bool {
	return slices.ContainsFunc(b.items, func(x *batchItem) bool { return x.state == Running })
}

func (b *batchRun) finished() bool {
	batch := b.x.current().Batch
	return batch.Checked == batch.Groups && b.unfinishedGroup() > batch.Groups
}

// unfinishedGroup is the first group with an item that is not over, or the number after the last.
func (b *batchRun) unfinishedGroup() int {
	group := b.x.current().Batch.Groups + 1
	for _, x := range b.items {
		if x.state != Succeeded && x.state != Skipped {
			group = min(group, x.Group)
		}
	}
	return group
}

// advance checks the group that has ended, or begins an item of the current one. began is
// false when there is nothing to do now; ok is false when the process ends.
func (b *batchRun) advance() (began, ok bool) {
	group := b.unfinishedGroup()
	batch := b.x.current().Batch
	if batch.Checked < group-1 {
		return true, b.checkGroup(group - 1)
	}
	if batch.Group != group {
		if !b.x.persist(withBatch(func(b *Batch) { b.Group = group })) {
			return false, false
		}
	}
	now := b.x.e.now()
	waits := message.Message{}
	for _, item := range b.items {
		if item.Group != group || item.state != Planned || !b.free(item) {
			continue
		}
		if why := b.mustWait(item, now); !why.IsZero() {
			if waits.IsZero() {
				waits = why
			}
			continue
		}
		return true, b.begin(item)
	}
	return false, b.showWait(waits)
}

// free reports whether no open item of the batch has a collection of the item, and its shards
// have room for one more.
func (b *batchRun) free(item *batchItem) bool {
	most := max(1, b.plan.Args.PerShard)
	busy := map[string]int{}
	for _, o := range b.items {
		if o.state != Running {
			continue
		}
		for _, ns := range o.Limits.Collections {
			if slices.Contains(item.Limits.Collections, ns) {
				return false
			}
		}
		for _, s := range o.Shards {
			busy[s]++
		}
	}
	return !slices.ContainsFunc(item.Shards, func(s string) bool { return busy[s] >= most })
}

// mustWait is why an item cannot begin now although nothing of the batch is in its way.
func (b *batchRun) mustWait(item *batchItem, now time.Time) message.Message {
	batch := b.x.current().Batch
	if item.Moves > 0 && now.Before(batch.Next) {
		return message.New("batch.paced", "The next item begins at {at}, because of the limit per hour.", message.Time("at", batch.Next))
	}
	if now.Before(item.notBefore) {
		return message.New("batch.again", "Item {item} is tried again at {at}: the cluster could not be read.",
			message.Count("item", item.Number), message.Time("at", item.notBefore))
	}
	if at, closed := actions.ClosedSince(b.plan.Checks, b.x.e.opts.Maintenance, now); closed {
		return message.New("batch.maintenance", "The maintenance window has closed; the batch goes on at {at}.", message.Time("at", at))
	}
	return message.Message{}
}

// showWait shows what the next item waits for, if that has changed.
func (b *batchRun) showWait(why message.Message) bool {
	r := b.x.current()
	state := Running
	if !why.IsZero() && !b.open() {
		state = Waiting
	}
	if r.Batch.Waits.String() == why.String() && r.State == state {
		return true
	}
	return b.x.persist(func(r *Run) {
		r.State, r.Why = state, why
		if state == Running {
			r.Why = message.Message{}
		}
		withBatch(func(b *Batch) { b.Waits = why })(r)
	})
}

// wait waits until an item has ended, somebody decides something, or an item may begin. It
// returns false when the process ends.
func (b *batchRun) wait() bool {
	x := b.x
	select {
	case e := <-b.ended:
		return b.settle(e.item, e.run)
	case <-x.wake:
	case <-x.newStopSignal():
	case <-time.After(b.untilNext()):
	case <-x.ctx.Done():
		return false
	}
	return true
}

// untilNext is how long nothing can begin.
func (b *batchRun) untilNext() time.Duration {
	batch, now := b.x.current().Batch, b.x.e.now()
	next := now.Add(idleCheck)
	soonest := func(at time.Time) {
		if at.After(now) && at.Before(next) {
			next = at
		}
	}
	soonest(batch.Next)
	for _, item := range b.items {
		if item.state == Planned {
			soonest(item.notBefore)
		}
	}
	return max(next.Sub(now), 10*time.Millisecond)
}

// stopOpen tells the open items to stop before their next command, once.
func (b *batchRun) stopOpen() {
	if b.told {
		return
	}
	b.told = true
	r := b.x.current()
	for _, item := range b.items {
		child := b.x.e.executionOf(item.run)
		if item.state != Running || child == nil || !child.claimStop() {
			continue
		}
		change := func(c *Run) { c.StopBy, c.StopAt = r.StopBy, r.StopAt }
		if err := child.save(b.x.ctx, change); err != nil {
			b.x.e.opts.Log.Error("save that an item of a batch is stopped", "run", item.run, "err", err)
			child.updateMemory(change)
		}
		close(child.stopSignal)
	}
}

// applyDecisions takes over what a person has decided about items that failed.
func (b *batchRun) applyDecisions() {
	for _, t := range b.x.current().Batch.Problems {
		item := b.items[t.Item-1]
		if item.state != Failed {
			continue
		}
		switch t.State {
		case TrialRetry:
			item.state = Planned
		case TrialSkip:
			item.state = Skipped
		}
	}
	b.saveCounts() // false only when the process ends, which the caller sees
}

// holdForItems pauses the batch because items have failed.
func (b *batchRun) holdForItems() bool {
	x := b.x
	at := x.e.now()
	numbers := x.current().Batch.Waiting()
	why := message.New("batch.itemFailed",
		message.Plural(len(numbers), "Paused: item {items} has failed. Retry it or skip it.",
			"Paused: items {items} have failed. Retry or skip each."), message.Words("items", listNumbers(numbers)))
	if !x.audit(auditRunPaused, "ok", map[string]string{"why": why.Code, "items": listNumbers(numbers)}) {
		return false
	}
	return x.persist(holdRun(Hold{Code: HoldItem, At: at, Why: why}))
}

// holdRun pauses a batch unless it is paused already.
func holdRun(h Hold) func(*Run) {
	return func(r *Run) {
		if r.Batch.Hold != nil {
			return
		}
		withBatch(func(b *Batch) { b.pause(h) })(r)
		r.State, r.Why = Waiting, h.Why
	}
}

// settle takes over what became of the run of an item.
func (b *batchRun) settle(number int, run Run) bool {
	item := b.items[number-1]
	x := b.x
	var trial *ItemTrial
	switch {
	case run.didAll() || run.State == Undone:
		item.state = Succeeded
	case run.State == Stopped && (run.Why.Code == restarted || run.Why.Code == notBegun || x.stopRequested()):
		item.state = Planned // it goes on with what is left, and counts as no failure
	default:
		why := run.Why
		if run.State == Stopped {
			why = message.New("batch.itemStopped", "Its run was stopped by a person.")
		}
		trial = b.failed(item, run.ID, why, run.State == Stopped)
	}
	details := map[string]string{"step": listNumbers([]int{number}), "op": string(operation.OpItem), "state": string(run.State), "run": run.ID}
	if !x.audit(auditRunStep, auditOutcome(run.State), details) {
		return false
	}
	return b.saveItem(item, trial)
}

// failed counts a failure of an item: it is tried once more, then waits for a person.
func (b *batchRun) failed(item *batchItem, run string, why message.Message, final bool) *ItemTrial {
	t := ItemTrial{Item: item.Number, Run: run, Tries: 1, Why: why, State: TrialRetry}
	batch := b.x.current().Batch
	if i := batch.trial(item.Number); i >= 0 {
		t.Tries = batch.Problems[i].Tries + 1
	}
	item.state = Planned
	if final || t.Tries > 1 {
		t.State, item.state = TrialWaits, Failed
	}
	return &t
}

// counts are how many items are done, and how many were skipped.
func (b *batchRun) counts() (done, skipped int) {
	for _, x := range b.items {
		switch x.state {
		case Succeeded:
			done++
		case Skipped:
			skipped++
		}
	}
	return done, skipped
}

// saveCounts saves how many items are over, if that has changed.
func (b *batchRun) saveCounts() bool {
	done, skipped := b.counts()
	if batch := b.x.current().Batch; batch.Done == done && batch.Skipped == skipped {
		return true
	}
	return b.x.persist(withBatch(func(b *Batch) { b.Done, b.Skipped = done, skipped }))
}

// saveItem saves what became of an item; trial is nil unless it failed.
func (b *batchRun) saveItem(item *batchItem, trial *ItemTrial) bool {
	done, skipped := b.counts()
	number, over := item.Number, item.state == Succeeded
	return b.x.persist(withBatch(func(b *Batch) {
		b.Open = slices.DeleteFunc(b.Open, func(o OpenItem) bool { return o.Item == number })
		b.Done, b.Skipped = done, skipped
		switch i := b.trial(number); {
		case trial != nil && i >= 0:
			b.Problems[i] = *trial
		case trial != nil:
			b.Problems = append(b.Problems, *trial)
		case over && i >= 0:
			b.Problems = slices.Delete(b.Problems, i, i+1)
		}
	}))
}

// retryLater is how long an item waits that could not be planned or saved.
func (b *batchRun) retryLater(item *batchItem) {
	b.again[item.Number]++
	item.notBefore = b.x.e.now().Add(min(time.Duration(b.again[item.Number])*outcomePollMax, time.Minute))
}

// begin plans an item from the current cluster and starts its run. Without an error in
// between, the run is on disk, and before it that it belongs to this item.
func (b *batchRun) begin(item *batchItem) bool {
	x := b.x
	p, err := b.planItem(item)
	switch {
	case x.ctx.Err() != nil:
		return false
	case errors.Is(err, errNothingLeft):
		return b.nothingLeft(item)
	case fault.Of(err) == fault.Unavailable:
		x.e.opts.Log.Warn("plan an item of a batch; trying again", "run", x.id, "item", item.Number, "err", err)
		b.retryLater(item)
		return true
	case err != nil:
		why := message.New("batch.notPlanned", "It could not be planned: {why}", message.Server("why", refusalText(err)))
		t := b.failed(item, item.run, why, false)
		return b.saveItem(item, t)
	}
	child, err := b.startItem(item, p)
	switch {
	case x.ctx.Err() != nil || errors.Is(err, store.ErrNotLeading):
		return false
	case err != nil:
		x.e.opts.Log.Error("start an item of a batch; trying again", "run", x.id, "item", item.Number, "err", err)
		b.retryLater(item)
		return true
	}
	delete(b.again, item.Number)
	b.follow(item, child)
	next := b.pace(p, x.e.now())
	return x.persist(func(r *Run) {
		r.State, r.Why = Running, message.Message{}
		withBatch(func(b *Batch) {
			b.Open = append(b.Open, OpenItem{Item: item.Number, Run: child.id})
			b.Waits = message.Message{}
			if next.After(b.Next) {
				b.Next = next
			}
		})(r)
	})
}

// follow waits for the end of an item's run.
func (b *batchRun) follow(item *batchItem, child *execution) {
	item.state, item.run = Running, child.id
	ctx := b.x.ctx
	b.x.term.goroutines.Go(func() {
		select {
		case <-child.done:
		case <-ctx.Done():
			return
		}
		run := child.current()
		if run.State.Open() {
			return // the process ends
		}
		select {
		case b.ended <- endedItem{item.Number, run}:
		case <-ctx.Done():
		}
	})
}

// pace is when the next item with moves may begin after this one.
func (b *batchRun) pace(p actions.Plan, now time.Time) time.Time {
	a := b.plan.Args
	moves := operation.Moves(p.Steps)
	var pause time.Duration
	if a.ChunksPerHour > 0 {
		pause = time.Duration(moves) * time.Hour / time.Duration(a.ChunksPerHour)
	}
	if size := p.Effect.Bytes; a.BytesPerHour > 0 && moves > 0 {
		bytes := size.Value
		if !size.Known {
			bytes = int64(moves) * assumedMove
		}
		pause = max(pause, time.Duration(float64(bytes)/float64(a.BytesPerHour)*float64(time.Hour)))
	}
	if pause == 0 {
		return time.Time{}
	}
	return now.Add(pause)
}

// assumedMove is how many bytes a move counts whose size is not known, for the limit per
// hour: the largest default size of a chunk.
const assumedMove = 128 << 20

// errNothingLeft reports that the goal of an item is reached already.
var errNothingLeft = errors.New("nothing is left to do")

// planItem plans an item from the current cluster, within the limits that were confirmed.
func (b *batchRun) planItem(item *batchItem) (actions.Plan, error) {
	e, x := b.x.e, b.x
	ctx, cancel := context.WithTimeout(x.ctx, planTimeout)
	defer cancel()
	a, err := actions.ItemArgs(item.Item)
	if err != nil {
		return actions.Plan{}, err
	}
	_, p, err := e.planFromCluster(ctx, Request{Kind: item.Kind, Args: a, Reason: b.plan.Reason, UndoOf: item.UndoOf,
		NoWait: item.NoWait})
	switch {
	case errors.Is(err, errNothingToUndo):
		return p, errNothingLeft
	case err != nil:
		return p, err
	case nothingToDo(p.Draft):
		return p, errNothingLeft
	case p.Blocked():
		return p, blockedError(p)
	}
	if over := p.Draft.Exceeds(item.Limits, 0); len(over) > 0 {
		return p, changedError(over, "The cluster has changed, and the item exceeds the limits that were confirmed. %s", over[0].Text().String())
	}
	p.Limits.Without = item.Limits.Without
	return p, nil
}

// nothingToDo reports whether a draft is blocked only because its goal is reached.
func nothingToDo(d actions.Draft) bool {
	return d.Reached || d.Blocked() && !slices.ContainsFunc(d.Checks, func(c actions.Check) bool {
		return c.Verdict == actions.Block && c.Text.Code != "recipient.same" && c.Text.Code != "steps.none"
	})
}

// nothingLeft ends an item whose goal is reached without a run.
func (b *batchRun) nothingLeft(item *batchItem) bool {
	if err := b.recordTry(item, "", ""); err != nil {
		b.x.e.opts.Log.Error("save that an item of a batch has nothing to do", "run", b.x.id, "item", item.Number, "err", err)
		b.retryLater(item)
		return b.x.ctx.Err() == nil
	}
	item.state = Succeeded
	return b.saveItem(item, nil)
}
