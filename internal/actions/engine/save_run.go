package engine

import (
	"context"
	"time"

	"shardboard/internal/clock"
)

const (
	saveTimeout  = 10 * time.Second
	saveRetryMin = time.Second
	saveRetryMax = 10 * time.Second
)

// pendingChange is a change that is not known to be on disk.
type pendingChange struct{ apply func(*Run) }

// save changes the run on disk and then in memory. After an error it has changed
// neither, as far as is known. A pending change is written together with the new
// one, because a failed write may have reached the disk: a later write without it
// would take it back.
func (x *execution) save(ctx context.Context, change func(*Run)) error {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	select {
	case x.writeSlot <- struct{}{}:
		defer func() { <-x.writeSlot }()
	case <-ctx.Done():
		return ctx.Err()
	}
	x.mu.Lock()
	pending, all := x.pending, change
	if pending != nil {
		all = func(r *Run) { pending.apply(r); change(r) }
	}
	r := x.with(all)
	x.mu.Unlock()
	record, err := encodeRun(r)
	if err != nil {
		return err
	}
	if err := x.e.opts.Journal.SaveRun(ctx, record); err != nil {
		return err
	}
	x.mu.Lock()
	if x.pending == pending {
		x.pending = nil
	}
	x.mu.Unlock()
	x.updateMemory(all)
	return nil
}

// persist saves a change and retries until it is on disk; the run does not continue
// before that and shows the reason. It returns false when the process ends, and the
// next process finds the run open. Only the goroutine of the run calls persist.
func (x *execution) persist(change func(*Run)) bool {
	mine := &pendingChange{change}
	x.mu.Lock()
	x.pending = mine
	x.mu.Unlock()
	return retrySaving(x.ctx, func() bool {
		x.mu.Lock()
		saved := x.pending != mine
		x.mu.Unlock()
		if saved {
			return true
		}
		err := x.save(x.ctx, func(*Run) {})
		if err == nil {
			return true
		}
		x.e.opts.Log.Error("save run", "run", x.id, "err", err)
		x.updateMemory(func(r *Run) { r.Why = runUnsaved })
		return false
	})
}

// retrySaving calls try with growing pauses until it returns true. It returns false
// when ctx ends first.
func retrySaving(ctx context.Context, try func() bool) bool {
	for pause := saveRetryMin; !try(); pause = min(2*pause, saveRetryMax) {
		if clock.Sleep(ctx, pause) != nil {
			return false
		}
	}
	return true
}
