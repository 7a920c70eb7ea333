package changes

import (
	"context"
	"fmt"
	"strconv"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/outcome"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// runModel is a run with its outcome. That it helped must not be missing without a
// word: a page whose outcome cannot be read says so.
func RunModel(s *site.Site, ctx context.Context, v answer.View, r engine.Run) Run {
	m := runView(v, r)
	o, cost, err := outcomeOf(s, ctx, r)
	if err != nil {
		s.Deps.Log.Warn("read the outcome of a run", "run", r.ID, "err", err)
		m.Outcome = &RunOutcome{Level: "note", Word: "Not known.", Text: "What was measured could not be read; the program’s log says why."}
		return m
	}
	m.Outcome = outcomeView(v, r, o)
	if cost != nil {
		m.Cost = costView(*cost)
		for _, c := range cost.Steps {
			if c.Step < len(m.Steps) {
				m.Steps[c.Step].Cost = stepCost(c, r.Steps[c.Step].State)
			}
		}
	}
	return m
}

func outcomeView(v answer.View, r engine.Run, o outcome.Outcome) *RunOutcome {
	if o.State == outcome.Running || o.State == outcome.Unchanged && !r.CanUndo() {
		return nil // a run that had no effect, or has not had all of it, is no question
	}
	m := &RunOutcome{Level: answer.OutcomeLevel(r, o), Word: o.Label(r), Text: o.Text().String()}
	switch o.State {
	case outcome.Unchanged:
		return m
	case outcome.TooEarly:
	default:
		m.Windows = fmt.Sprintf("Compared: %s (%s counted) with %s (%s counted), UTC.", answer.SpanOf(o.Before.Span), answer.SecondsText(o.Before.Covered), answer.SpanOf(o.After.Span), answer.SecondsText(o.After.Covered))
		if o.State == outcome.Uncounted {
			m.Windows = ""
		}
	}
	if o.PlusMinus > 0 {
		m.Sure = fmt.Sprintf("The difference is known to ±%s percentage points (95 %%), from %s rows before and %s after.", answer.Points(o.PlusMinus), format.Count(o.Before.Total.Rows), format.Count(o.After.Total.Rows))
	}
	refs := parts.RefsOf(v.Table)
	for _, x := range o.Shards {
		m.Shards = append(m.Shards, OutcomeRow{Shard: refs.Of(x.Shard), Before: outcomeCell(o.Before, &x.Before), After: outcomeCell(o.After, &x.After)})
	}
	if o.Before.Covered > 0 {
		m.Total = &OutcomeRow{Before: outcomeCell(o.Before, &o.Before.Total), After: outcomeCell(o.After, &o.After.Total)}
	}
	for i, x := range o.Chunks {
		if i == answer.ChunksShown {
			break
		}
		m.Chunks = append(m.Chunks, outcomeChunk(v, refs, o, x))
	}
	if more := o.More + max(0, len(o.Chunks)-answer.ChunksShown); more > 0 && len(m.Chunks) > 0 {
		m.More = message.Plural(int64(more), "One more chunk is not listed; the JSON API lists up to 64 of each collection.", format.Count(int64(more))+" more chunks are not listed; the JSON API lists up to 64 of each collection.")
	}
	for _, code := range o.Notes {
		m.Notes = append(m.Notes, o.Note(code).String())
	}
	for _, c := range o.Collections {
		if c.Not != "" && o.State != outcome.Uncounted {
			m.Notes = append(m.Notes, c.WhyNot().String())
		}
	}
	for _, id := range o.OtherRuns[:min(len(o.OtherRuns), answer.OthersListed)] {
		m.Others = append(m.Others, "/runs/"+id)
	}
	return m
}

func outcomeChunk(v answer.View, refs parts.Refs, o outcome.Outcome, x outcome.ChunkChange) OutcomeChunk {
	out := OutcomeChunk{NS: sanitize.Sentence(string(x.NS)), Min: parts.BoundOf(v.Table, string(x.NS), x.Min), Max: parts.BoundOf(v.Table, string(x.NS), x.Max),
		Before: outcomeCell(o.Before, x.Before), After: outcomeCell(o.After, x.After)}
	if x.From != "" {
		out.From = refs.Of(x.From)
	}
	if x.To != "" {
		out.To = refs.Of(x.To)
	}
	return out
}

// outcomeCell is a rate with its share of the window; no rate: there was no such
// chunk, or the window is not counted yet.
func outcomeCell(s outcome.Side, r *heat.Rate) templates.Cell {
	if s.Covered == 0 {
		return templates.Cell{Figure: templates.Figure{Text: "not counted yet"}, Share: -1, Even: -1}
	}
	if r == nil {
		return templates.Cell{Figure: templates.Figure{Text: "no such chunk"}, Share: -1, Even: -1}
	}
	title := "from 1 s in 10; ± is half of the 95 % interval"
	switch {
	case r.AtLeast:
		title = "at least: the reading budget ended before the rows did"
	case r.Exact:
		title = "counted: all"
	}
	return templates.Cell{Figure: templates.Figure{Known: true, Text: answer.RateText(*r), Title: title},
		Share: r.Share, ShareText: format.Share(r.Share), Bar: r.Share, Even: -1}
}

// costView is what a run's migrations cost; nil when it has none.
func costView(c outcome.Cost) *RunCost {
	if len(c.Steps) == 0 {
		return nil
	}
	row := func(name string, est, act topology.Figure, write func(topology.Figure) templates.Figure) CostRow {
		return CostRow{Name: name, Estimated: write(est), Actual: write(act)}
	}
	e, a := c.Total.Estimated, c.Total.Actual
	millis := func(f topology.Figure) templates.Figure { return parts.Figure(f, answer.TookMillis) }
	return &RunCost{
		Lead: fmt.Sprintf("%s of %s migrations done. What was copied is the server’s own count in the changelog.", strconv.Itoa(c.Moved), strconv.Itoa(len(c.Steps))),
		Rows: []CostRow{
			row("Documents copied", e.Documents, a.Documents, parts.CountFigure),
			row("Data copied", e.Bytes, a.Bytes, parts.BytesFigure),
			row("Time", e.Millis, a.Millis, millis),
		},
	}
}

// stepCost is one migrating step's as a line; "" before it has moved anything.
func stepCost(c outcome.StepCost, state engine.State) string {
	if state != engine.Succeeded {
		return ""
	}
	text := func(a outcome.Amounts) map[string]string {
		return map[string]string{"documents": parts.CountFigure(a.Documents).Text, "bytes": parts.BytesFigure(a.Bytes).Text, "took": parts.Figure(a.Millis, answer.TookMillis).Text}
	}
	is := text(c.Actual)
	out := fmt.Sprintf("Copied %s documents, %s, in %s.", is["documents"], is["bytes"], is["took"])
	if !c.Actual.Bytes.Known || !c.Actual.Documents.Known {
		out = fmt.Sprintf("Took %s; what was copied is not logged.", is["took"])
	}
	if !c.Estimated.Bytes.Known {
		return out + " " + "Not estimated."
	}
	est := text(c.Estimated)
	return out + " " + fmt.Sprintf("Estimated: %s documents, %s, %s.", est["documents"], est["bytes"], est["took"])
}
