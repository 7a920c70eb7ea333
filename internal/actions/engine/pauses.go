package engine

import (
	"slices"
	"time"
)

// Pause is balancing that a run has switched off and has not switched on again.
type Pause struct {
	NS    string // collection; "" for the whole cluster
	Since time.Time
}

// Pauses returns the pauses of the run. An ended run still has pauses only when its
// process stopped running in the middle of it.
func (r Run) Pauses() (out []Pause) {
	for _, on := range r.Steps {
		if !on.Restores || !r.hasPaused(on) || r.hasRestored(on) {
			continue
		}
		p := Pause{NS: string(on.NS)}
		for _, s := range r.Steps {
			if s.Pauses && s.NS == on.NS && s.State == Succeeded {
				p.Since = s.Ended
			}
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// hasRestored reports whether balancing was switched on again, or need not be
// because another collection has replaced the one that was paused.
func (r Run) hasRestored(on Step) bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool {
		return s.Restores && s.Op == on.Op && s.NS == on.NS && (s.State == Succeeded || s.State == Refused && len(s.Changed) > 0)
	})
}
