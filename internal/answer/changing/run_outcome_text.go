package changing

import (
	"fmt"
	"strconv"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/outcome"
)

// AsksOutcome tells whether to answer if a run helped: not before it has had all of its
// effect, and not when it had none.
func AsksOutcome(r api.Run) bool {
	o := r.Outcome
	return o != nil && o.State != string(outcome.Running) && (o.State != string(outcome.Unchanged) || r.CanUndo)
}

// gathers tells whether the purpose of a run was to gather writes on one shard.
func gathers(r api.Run) bool { return actions.Describe(actions.Kind(r.Kind)).Gathers && r.UndoOf == "" }

// OutcomeLabel answers in a word or two whether a run helped.
func OutcomeLabel(r api.Run) string {
	return outcome.Label(outcome.State(r.Outcome.State), outcome.Verdict(r.Outcome.Verdict), gathers(r))
}

// Helped tells whether a run helped.
func Helped(r api.Run) bool { return r.Outcome.Verdict == string(outcome.Helped) }

// MadeWorse tells whether a run made writes less even and was not meant to.
func MadeWorse(r api.Run) bool { return r.Outcome.Verdict == string(outcome.Worse) && !gathers(r) }

// OutcomeCompared says which windows were compared, and how certain the difference is.
func OutcomeCompared(o *api.RunOutcome) (text string) {
	switch outcome.State(o.State) {
	case outcome.Unchanged, outcome.TooEarly, outcome.Uncounted:
	default:
		if o.Before.From == nil || o.After.From == nil {
			return ""
		}
		window := func(w api.OutcomeWindow) string {
			return fmt.Sprintf("%s–%s (%d s counted)", w.From.Format("15:04"), w.To.Format("15:04"), int(w.CoveredSeconds))
		}
		text = fmt.Sprintf("Compared: %s with %s, UTC.", window(o.Before), window(o.After))
	}
	if o.PlusMinus != nil && o.Before.Writes != nil && o.After.Writes != nil {
		text += fmt.Sprintf(" The difference is certain to ±%.1f percentage points (95 %%), from %s rows before and %s after.",
			100**o.PlusMinus, format.Count(o.Before.Writes.Rows), format.Count(o.After.Writes.Rows))
	}
	return text
}

// OutcomeRemarks are the notes on an outcome, and why collections are not compared.
func OutcomeRemarks(o *api.RunOutcome) (out []string) {
	for _, n := range o.Notes {
		out = append(out, n.Text)
	}
	if o.State == string(outcome.Uncounted) {
		return out // the answer says why
	}
	for _, c := range o.Collections {
		if c.Why != "" {
			out = append(out, c.Why)
		}
	}
	return out
}

// OutcomeRateText writes a rate of a window, and how it is known; known is false where
// there is no rate.
func OutcomeRateText(w api.OutcomeWindow, r *api.OutcomeRate) (text, how string, known bool) {
	switch {
	case w.CoveredSeconds == 0:
		return "not counted yet", "", false
	case r == nil:
		return "no such chunk", "", false
	}
	rate := heat.Rate{PerSecond: r.WritesPerSecond, Exact: r.Exact, AtLeast: r.AtLeast}
	if r.PlusMinus != nil {
		rate.PlusMinus = *r.PlusMinus
	}
	how = "from 1 s in 10; ± is half of the 95 % interval"
	switch {
	case r.AtLeast:
		how = "at least: the reading budget ended before the rows did"
	case r.Exact:
		how = "counted: all"
	}
	return writes.RateText(rate), how, true
}

// TenthsText writes milliseconds with tenths of a second: moves of small chunks take
// less than a second.
func TenthsText(n int64) string {
	if n < 60_000 {
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + " s"
	}
	return MillisText(n)
}

// CostText says how many migrations of a run are done.
func CostText(c *api.RunCost) string {
	unknown := 0
	for _, s := range c.Steps {
		if s.Actual.Documents.Reason == outcome.ReasonUnknown {
			unknown++
		}
	}
	done := fmt.Sprintf("Moves done: %d of %d.", c.Moved, len(c.Steps))
	if unknown > 0 {
		done = fmt.Sprintf("Moves known to be done: %d of %d; the outcome of %d is unknown.", c.Moved, len(c.Steps), unknown)
	}
	return done + " What was copied is the server’s own count in the changelog."
}

// StepCostText says what a migrating step copied and how long it took, beside the
// estimate; "" before it has moved anything.
func StepCostText(r api.Run, i int) string {
	if r.Cost == nil || r.Steps[i].State != string(engine.Succeeded) {
		return ""
	}
	for _, c := range r.Cost.Steps {
		if c.Step != i {
			continue
		}
		est, act := c.Estimated, c.Actual
		out := fmt.Sprintf("Copied %s in %s.", copiedText(act), answer.ValueOrReason(act.DurationMillis, TenthsText))
		if act.Bytes.Value == nil || act.Documents.Value == nil {
			out = fmt.Sprintf("Took %s; what was copied is not logged.", answer.ValueOrReason(act.DurationMillis, TenthsText))
		}
		if est.Bytes.Value == nil {
			return out + " Not estimated."
		}
		return out + fmt.Sprintf(" Estimated: %s in %s.", copiedText(est), answer.ValueOrReason(est.DurationMillis, TenthsText))
	}
	return ""
}

func copiedText(a api.RunAmounts) string {
	return answer.ValueOrReason(a.Documents, format.Count) + " documents, " + answer.ValueOrReason(a.Bytes, format.Bytes) + ","
}
