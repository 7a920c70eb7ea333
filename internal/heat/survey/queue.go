package survey

import (
	"cmp"
	"context"
	"slices"
)

// turn tells how soon a kind is carried out, the least first: what somebody waits
// for with a document or a project in hand goes before what measures everything
// for hours.
func (k Kind) turn() int {
	switch k {
	case Document:
		return 0
	case Project:
		return 1
	}
	return 2
}

// line is the surveys that have not ended, in the order in which they are
// carried out: by kind, then what has begun, then what has waited longest. The
// caller holds the lock.
func (e *Engine) line() []*job {
	var out []*job
	for _, j := range slices.Backward(e.jobs) { // newest first
		if !j.State.Ended() && j.stop == nil {
			out = append(out, j)
		}
	}
	slices.SortStableFunc(out, func(a, b *job) int {
		return cmp.Or(a.Request.Kind.turn()-b.Request.Kind.turn(), a.begun()-b.begun())
	})
	return out
}

// begun is 0 for what has begun, which goes on before another begins.
func (j *job) begun() int {
	if !j.Started.IsZero() {
		return 0
	}
	return 1
}

// standBack puts a survey back into the line between two steps when another has
// come that goes first; true when it did.
func (e *Engine) standBack(ctx context.Context, j *job) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	line := e.line()
	if ctx.Err() != nil || j.stop != nil || len(line) == 0 || line[0] == j {
		return false
	}
	j.State, j.cancel, j.Progress.PacedDown = Queued, nil, false
	if err := e.save(ctx, j); err != nil {
		e.o.Log.Warn("a survey's state cannot be kept", "err", err)
	}
	return true
}

// shown is a survey as it is now; the time left has the wait for those before
// it in it. The caller holds the lock.
func (e *Engine) shown(j *job) Survey {
	out := j.Survey
	if j.State != Queued || out.Progress.Left < 0 {
		return out
	}
	for _, o := range e.line() {
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
