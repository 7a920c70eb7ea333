package changing

import (
	"shardboard/internal/actions/engine"
	"shardboard/internal/format"
)

const (
	stepsUnfolded = 12 // a run with more steps folds those that need no look
	shortestFold  = 3  // steps in a row that are worth folding
)

// StepGroup is one step of a run, or several in a row that need no look: proven
// ones, or ones that have not begun.
type StepGroup struct {
	Steps []ListedStep
	Fold  string // what is folded; "" for one that is not
	Key   string // stays while the group grows or shrinks, so that an open fold stays open
}

// GroupSteps folds steps of a long run. What failed, waits or runs is never folded.
func GroupSteps(steps []ListedStep) (out []StepGroup) {
	if len(steps) == 0 {
		return nil
	}
	if len(steps) <= stepsUnfolded {
		return []StepGroup{{Steps: steps}}
	}
	for from := 0; from < len(steps); {
		state := engine.State(steps[from].State)
		to := from + 1
		for to < len(steps) && steps[to].State == steps[from].State {
			to++
		}
		g := StepGroup{Steps: steps[from:to]}
		n := format.Count(int64(to - from))
		switch {
		case to-from < shortestFold:
		case state == engine.Succeeded:
			// Proven steps grow at the end, planned ones shrink at the beginning.
			g.Fold, g.Key = n+" steps proven", "proven-"+steps[from].key()
		case state == engine.Planned:
			g.Fold, g.Key = n+" steps not begun yet", "planned-"+steps[to-1].key()
		}
		out, from = append(out, g), to
	}
	return out
}

func (s ListedStep) key() string { return format.Count(int64(s.Number)) }
