package answer

import (
	"slices"
	"strings"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
)

// whyText says why a run is in its state. If it waits for something, or has given up
// waiting, it says for what.
func whyText(r engine.Run) string {
	if i := waitingStep(r); i >= 0 {
		return strings.Join(StepWaitTexts(string(r.Steps[i].State), stepWaitOf(r.Steps[i])), " ")
	}
	why := r.Why.String()
	if r.Why.Code == "step.gaveUp" {
		for _, s := range r.Steps {
			if s.State == engine.Failed && s.Backoff != nil {
				why += " " + s.Backoff.What.String()
			}
		}
	}
	return why
}

// waitingStep is the step that waits for what is in its way; -1 when none does.
func waitingStep(r engine.Run) int {
	if r.State != engine.Waiting || r.Why.Code != "run.obstacle" {
		return -1
	}
	return slices.IndexFunc(r.Steps, func(s engine.Step) bool { return s.State == engine.Waiting && s.Backoff != nil })
}

// stepWaitOf is what a step waits for, or waited for last; nil for nothing.
func stepWaitOf(s engine.Step) *api.StepWait {
	w := s.Backoff
	if w == nil {
		return nil
	}
	return &api.StepWait{Obstacle: string(w.Obstacle), Text: w.What.String(), Since: api.Time(w.Since), Next: api.Time(w.Next),
		Until: api.Time(w.Until)}
}
