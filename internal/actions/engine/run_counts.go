package engine

import (
	"maps"
	"slices"
)

// RunCounts are the runs of this process by state.
type RunCounts struct {
	Open  map[State]int   // now
	Ended map[State]int64 // since the start
}

// RunCounts counts the runs that this process executes and those that it has ended.
func (e *Engine) RunCounts() RunCounts {
	e.mu.Lock()
	executions := slices.Collect(maps.Values(e.executions))
	out := RunCounts{Open: map[State]int{}, Ended: maps.Clone(e.ended)}
	e.mu.Unlock()
	for _, x := range executions {
		if s := x.current().State; s.Open() {
			out.Open[s]++
		}
	}
	return out
}

// countEnd counts a run that has ended.
func (e *Engine) countEnd(s State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended == nil {
		e.ended = map[State]int64{}
	}
	e.ended[s]++
}
