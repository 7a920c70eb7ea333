package engine

import (
	"slices"
	"time"
)

// longWait is how long a step has to wait for others to overtake it. For less it keeps its turn: in a cluster that is
// always busy, each overtaking step would be refused in its turn.
const longWait = 10 * time.Second

// readyFirst puts the first step after i before it that nothing has blocked yet and that does not depend on those
// that it overtakes: a move that waits for old documents does not keep others from their turn. reordered is false
// when step i itself is next; ok is false when the process ends.
func (x *execution) readyFirst(i int) (reordered, ok bool) {
	steps := x.current().Steps
	if w := steps[i].Backoff; w == nil || w.Next.Sub(x.e.now()) < longWait {
		return false, true
	}
	t := x.e.opts.Tables.Table()
	best := i
	var overtaken []claim
	for j := i; j < firstRestore(steps); j++ {
		span, known := rangeClaim(t, steps[j].Step)
		if !known || !steps[j].Sends() || steps[j].Pauses {
			break // what comes after it may depend on it
		}
		if !slices.ContainsFunc(overtaken, span.overlaps) && steps[j].Backoff == nil {
			best = j
			break
		}
		overtaken = append(overtaken, span)
	}
	if best == i {
		return false, true
	}
	return true, x.persist(func(r *Run) {
		first := r.Steps[best]
		r.Steps = slices.Insert(slices.Delete(r.Steps, best, best+1), i, first)
	})
}
