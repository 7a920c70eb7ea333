package survey

import (
	"cmp"
	"context"
	"slices"
)

// priority is the order of the kinds, first ones lowest: somebody waits for a document or project,
// while other surveys run for hours.
func (k Kind) priority() int {
	switch k {
	case Document:
		return 0
	case Project:
		return 1
	}
	return 2
}

// queue returns the surveys that have not ended, in the order in which they run: by kind, then
// started ones, then the longest queued. The caller holds the lock.
func (e *Engine) queue() []*job {
	var out []*job
	for _, j := range slices.Backward(e.jobs) { // newest first
		if !j.State.Ended() && j.stop == nil {
			out = append(out, j)
		}
	}
	slices.SortStableFunc(out, func(a, b *job) int {
		return cmp.Or(a.Request.Kind.priority()-b.Request.Kind.priority(), a.startedOrder()-b.startedOrder())
	})
	return out
}

// startedOrder is 0 for started surveys, which resume before others start, else 1.
func (j *job) startedOrder() int {
	if !j.Started.IsZero() {
		return 0
	}
	return 1
}

// yield requeues a survey between two steps when a more urgent one is queued; true when it did.
func (e *Engine) yield(ctx context.Context, j *job) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	line := e.queue()
	if ctx.Err() != nil || j.stop != nil || len(line) == 0 || line[0] == j {
		return false
	}
	j.State, j.cancel, j.Progress.PacedDown = Queued, nil, false
	if err := e.save(ctx, j); err != nil {
		e.o.Log.Warn("store a survey's state", "err", err)
	}
	return true
}

// snapshot is a survey's current state; the time left includes the wait for surveys before it. The
// caller holds the lock.
func (e *Engine) snapshot(j *job) Survey {
	out := j.Survey
	if j.State != Queued || out.Progress.Left < 0 {
		return out
	}
	for _, o := range e.queue() {
		if o == j {
			break
		}
		if o.Progress.Left < 0 {
			out.Progress.Left = -1
			break
		}
		out.Progress.Left += o.Progress.Left
	}
	return out
}
