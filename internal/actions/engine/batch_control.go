package engine

import (
	"context"
	"fmt"
	"strings"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/message"
)

// ResumeRequest lets a paused batch go on, or decides about an item that has failed.
type ResumeRequest struct {
	Item int    // its number; 0: the batch
	Do   string // DoRetry or DoSkip; "" without an item
}

// What can be done about an item that has failed.
const (
	DoRetry = "retry"
	DoSkip  = "skip"
)

// Pause pauses a batch: no further item begins, and those that run go on to their end.
func (e *Engine) Pause(ctx context.Context, by auth.Principal, id string) (Run, error) {
	return e.changeBatch(ctx, by, id, auditRunPaused, nil, func(r Run) (func(*Run), error) {
		if r.Batch.Hold != nil {
			return nil, nil
		}
		at := e.now()
		return holdRun(Hold{Code: HoldPerson, By: by.ID, ByName: by.Name, At: at, Why: message.New("batch.paused",
			"Paused by {by} at {at}. Items that had begun run to their end.", message.Text("by", by.ID), message.Time("at", at))}), nil
	})
}

// Resume lets a paused batch go on. An item that waits for a person is retried or skipped; the
// batch goes on by itself when the last of them was decided and nobody else paused it.
func (e *Engine) Resume(ctx context.Context, by auth.Principal, id string, q ResumeRequest) (Run, error) {
	details := map[string]string{}
	if q.Item != 0 || q.Do != "" {
		details["item"], details["do"] = fmt.Sprint(q.Item), q.Do
	}
	return e.changeBatch(ctx, by, id, auditRunResumed, details, func(r Run) (func(*Run), error) {
		if q.Item != 0 || q.Do != "" {
			return e.decideItem(*r.Batch, q)
		}
		if waiting := r.Batch.Waiting(); len(waiting) > 0 {
			return nil, fault.New(fault.Conflict, "%s", message.New("batch.decide", message.Plural(len(waiting),
				"Item {items} has failed. Retry it or skip it first.", "Items {items} have failed. Retry or skip each of them first."),
				message.Words("items", listNumbers(waiting))).String())
		}
		if r.Batch.Hold == nil {
			return nil, nil
		}
		return e.goOn, nil
	})
}

// goOn ends the pause of a batch. After a look at the health of the cluster that found
// something, it also lets the next group begin.
func (e *Engine) goOn(r *Run) {
	r.State, r.Why = Running, message.Message{}
	withBatch(func(b *Batch) {
		if b.Hold != nil && b.Hold.Code == HoldGate {
			b.Checked = max(b.Checked, b.Hold.Group)
		}
		b.Hold, b.Since = nil, e.now()
	})(r)
}

// decideItem retries or skips an item that waits for a person.
func (e *Engine) decideItem(b Batch, q ResumeRequest) (func(*Run), error) {
	switch {
	case q.Do != DoRetry && q.Do != DoSkip:
		return nil, fault.New(fault.Invalid, "Say what to do with the item: \"do\" must be \"retry\" or \"skip\".")
	case q.Item < 1 || q.Item > b.Items:
		return nil, fault.New(fault.NotFound, "The batch has no item %d; it has %d.", q.Item, b.Items)
	}
	if i := b.trial(q.Item); i < 0 || b.Problems[i].State != TrialWaits {
		return nil, fault.New(fault.Conflict, "Item %d does not wait for a decision.", q.Item)
	}
	return func(r *Run) {
		withBatch(func(b *Batch) {
			i := b.trial(q.Item)
			if i < 0 || b.Problems[i].State != TrialWaits {
				return
			}
			b.Problems[i].State = TrialSkip
			if q.Do == DoRetry {
				b.Problems[i].State, b.Problems[i].Tries = TrialRetry, 1 // the next failure waits for a person again
			}
		})(r)
		if h := r.Batch.Hold; h != nil && h.Code == HoldItem && len(r.Batch.Waiting()) == 0 {
			e.goOn(r)
		}
	}, nil
}

// changeBatch makes a change that somebody asks for: on disk, then in the audit record. plan
// returns nil when nothing has to change.
func (e *Engine) changeBatch(ctx context.Context, by auth.Principal, id, what string, details map[string]string,
	plan func(Run) (func(*Run), error)) (Run, error) {
	run, err := e.tryChangeBatch(ctx, by, id, what, details, plan)
	if err != nil {
		return run, e.auditRefusal(ctx, by, what, id, details, err)
	}
	return run, nil
}

func (e *Engine) tryChangeBatch(ctx context.Context, by auth.Principal, id, what string, details map[string]string,
	plan func(Run) (func(*Run), error)) (Run, error) {
	if !by.May(auth.Operator) {
		return Run{}, roleError(auth.Operator)
	}
	x := e.executionOf(id)
	if x == nil {
		if err := e.opts.Journal.Writable(); err != nil {
			return Run{}, err // another process may be executing it
		}
		run, err := e.RunByID(ctx, id)
		if err == nil && run.State.Open() {
			err = fault.New(fault.Unavailable, "The run is taken over now. Try again in a moment.")
		} else if err == nil {
			err = fault.New(fault.Conflict, "This run has ended.")
		}
		return run, err
	}
	run := x.current()
	switch {
	case !run.IsBatch():
		return run, fault.New(fault.Conflict, "Only a batch can be paused and resumed. This run can be stopped.")
	case x.stopRequested():
		return run, fault.New(fault.Conflict, "The batch was stopped. Undo it, or plan the rest.")
	}
	change, err := plan(run)
	if err != nil || change == nil {
		return run, err
	}
	saving, cancel := asLeader(x.ctx, ctx)
	defer cancel()
	if err := x.save(saving, change); err != nil {
		return x.current(), fault.Wrap(fault.Unavailable, err, "This could not be saved, so nothing has changed: %s", fault.Text(err))
	}
	select {
	case x.wake <- struct{}{}:
	default: // it is awake already
	}
	if err := e.writeAudit(ctx, by, what, id, "ok", details); err != nil {
		return x.current(), fault.Wrap(fault.Unavailable, err, "This was done, but could not be written to the audit record: %s", fault.Text(err))
	}
	return x.current(), nil
}

// listNumbers lists numbers of items for a sentence.
func listNumbers(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = fmt.Sprint(n)
	}
	return strings.Join(texts, ", ")
}
