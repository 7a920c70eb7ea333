package changes

import (
	"fmt"
	"strconv"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/outcome"
	"shardboard/web/templates"
)

// A page lists so many chunks of an outcome, and leads to so many other runs.
const (
	chunksShown  = 12
	othersListed = 5
)

// asksOutcome tells whether there is a question whether a run helped: not before it
// has had all of its effect, and not when it had none.
func asksOutcome(r api.Run) bool {
	o := r.Outcome
	return o != nil && o.State != string(outcome.Running) && (o.State != string(outcome.Unchanged) || r.CanUndo)
}

func outcomeLevel(o *api.RunOutcome) string {
	switch {
	case o.Good:
		return "ok"
	case o.Bad:
		return "bad"
	}
	return "note"
}

// compared says which windows were compared, and how sure the difference is.
func compared(o *api.RunOutcome) (text string) {
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
		text += fmt.Sprintf(" The difference is known to ±%.1f percentage points (95 %%), from %s rows before and %s after.",
			100**o.PlusMinus, format.Count(o.Before.Writes.Rows), format.Count(o.After.Writes.Rows))
	}
	return text
}

// remarks are the notes, and why collections are not compared.
func remarks(o *api.RunOutcome) (out []string) {
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

// rateCell is a rate with its share of a window.
func rateCell(w api.OutcomeWindow, r *api.OutcomeRate) templates.Cell {
	switch {
	case w.CoveredSeconds == 0:
		return templates.Cell{Figure: templates.Figure{Text: "not counted yet"}, Share: -1, Even: -1}
	case r == nil:
		return templates.Cell{Figure: templates.Figure{Text: "no such chunk"}, Share: -1, Even: -1}
	}
	rate := heat.Rate{PerSecond: r.WritesPerSecond, Exact: r.Exact, AtLeast: r.AtLeast}
	if r.PlusMinus != nil {
		rate.PlusMinus = *r.PlusMinus
	}
	title := "from 1 s in 10; ± is half of the 95 % interval"
	switch {
	case r.AtLeast:
		title = "at least: the reading budget ended before the rows did"
	case r.Exact:
		title = "counted: all"
	}
	return templates.Cell{Figure: templates.Figure{Known: true, Text: answer.RateText(rate), Title: title},
		Share: r.Share, ShareText: format.Share(r.Share), Bar: r.Share, Even: -1}
}

// tookMillis writes a time with its tenths: moves of small chunks take less than a
// second.
func tookMillis(n int64) string {
	if n < 60_000 {
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + " s"
	}
	return answer.MillisText(n)
}

// stepCost is what a migrating step cost, as a line; "" before it has moved anything.
func (m Region) stepCost(i int) string {
	if m.Cost == nil || m.Steps[i].State != string(engine.Succeeded) {
		return ""
	}
	for _, c := range m.Cost.Steps {
		if c.Step != i {
			continue
		}
		est, act := c.Estimated, c.Actual
		out := fmt.Sprintf("Copied %s documents, %s, in %s.", templates.Count(act.Documents).Text, templates.Bytes(act.Bytes).Text, millis(act))
		if act.Bytes.Value == nil || act.Documents.Value == nil {
			out = fmt.Sprintf("Took %s; what was copied is not logged.", millis(act))
		}
		if est.Bytes.Value == nil {
			return out + " Not estimated."
		}
		return out + fmt.Sprintf(" Estimated: %s documents, %s, %s.", templates.Count(est.Documents).Text,
			templates.Bytes(est.Bytes).Text, millis(est))
	}
	return ""
}

func millis(a api.RunAmounts) string { return templates.Written(a.DurationMillis, tookMillis).Text }
