package engine

import (
	"slices"
	"time"
)

// Pause is balancing that a run has switched off and has not switched on again.
type Pause struct {
	NS    string // collection; "" is the balancer of the whole cluster
	Since time.Time
}

// Pauses are the pauses of the run. A run that has ended with some of them left
// belonged to a process that no longer runs.
func (r Run) Pauses() (out []Pause) {
	for _, on := range r.Steps {
		if !on.Restores || !r.paused(on) || r.restored(on) {
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

// restored tells whether balancing was switched on again, or is not needed because
// another collection has taken the place of the one that was paused.
func (r Run) restored(on Step) bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool {
		return s.Restores && s.Op == on.Op && s.NS == on.NS && (s.State == Succeeded || s.State == Refused && len(s.Changed) > 0)
	})
}
