package rules

import (
	"slices"

	"shardboard/internal/store"
)

// Last is what the last evaluation found, without the problems that were dismissed when the dismissals were last
// read and without what is over. Problems with one cause are each by themselves. It evaluates and reads nothing, so it
// may be older than Every; At is zero before the first evaluation.
func (a *Advisor) Last() Report {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.last
	out.Items = nil
	for _, p := range a.last.Items {
		dismissed := slices.ContainsFunc(a.decided.list, func(d store.Dismissal) bool { return d.ID == p.ID })
		if !dismissed && p.Until.IsZero() {
			out.Items = append(out.Items, p)
		}
	}
	return out
}
