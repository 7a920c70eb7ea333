package web

import (
	"context"
	"strconv"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/outcome"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// chunksShown is how many chunks of an outcome a page lists; the API has more.
const chunksShown = 12

// othersListed bounds the links to other runs of the same time; how many there are
// stands in the sentence.
const othersListed = 5

// runModel is a run with its outcome. That it helped must not be missing without a
// word: a page whose outcome cannot be read says so.
func (s *Site) runModel(ctx context.Context, v View, r engine.Run) templates.Run {
	m := runView(v, r)
	o, cost, err := s.outcomeOf(ctx, r)
	if err != nil {
		s.deps.Log.Warn("read the outcome of a run", "run", r.ID, "err", err)
		m.Outcome = &templates.RunOutcome{Level: "note", Word: words.T("outcome.word.unread"), Text: words.T("outcome.unread")}
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

func outcomeView(v View, r engine.Run, o outcome.Outcome) *templates.RunOutcome {
	if o.State == outcome.Running || o.State == outcome.Unchanged && !r.CanUndo() {
		return nil // a run that had no effect, or has not had all of it, is no question
	}
	m := &templates.RunOutcome{Level: outcomeLevel(r, o), Word: outcomeWord(r, o), Text: outcomeText(r, o)}
	switch o.State {
	case outcome.Unchanged:
		return m
	case outcome.TooEarly:
	default:
		m.Windows = words.T("outcome.windows", "before", spanOf(o.Before.Span), "after", spanOf(o.After.Span),
			"coveredBefore", secondsText(o.Before.Covered), "coveredAfter", secondsText(o.After.Covered))
		if o.State == outcome.Uncounted {
			m.Windows = ""
		}
	}
	if o.PlusMinus > 0 {
		m.Sure = words.T("outcome.sure", "pm", points(o.PlusMinus), "n", format.Count(o.Before.Total.Rows), "m", format.Count(o.After.Total.Rows))
	}
	refs := refsOf(v.Table)
	for _, x := range o.Shards {
		m.Shards = append(m.Shards, templates.OutcomeRow{Shard: refs.of(x.Shard), Before: outcomeCell(o.Before, &x.Before), After: outcomeCell(o.After, &x.After)})
	}
	if o.Before.Covered > 0 {
		m.Total = &templates.OutcomeRow{Before: outcomeCell(o.Before, &o.Before.Total), After: outcomeCell(o.After, &o.After.Total)}
	}
	for i, x := range o.Chunks {
		if i == chunksShown {
			break
		}
		m.Chunks = append(m.Chunks, outcomeChunk(v, refs, o, x))
	}
	if more := o.More + max(0, len(o.Chunks)-chunksShown); more > 0 && len(m.Chunks) > 0 {
		m.More = words.Plural("outcome.more", int64(more), "n", format.Count(int64(more)))
	}
	for _, code := range o.Notes {
		m.Notes = append(m.Notes, outcomeNote(o, code))
	}
	for _, c := range o.Collections {
		if c.Not != "" && o.State != outcome.Uncounted {
			m.Notes = append(m.Notes, outcomeWhyNot(o, c))
		}
	}
	for _, id := range o.OtherRuns[:min(len(o.OtherRuns), othersListed)] {
		m.Others = append(m.Others, "/runs/"+id)
	}
	return m
}

func outcomeChunk(v View, refs refs, o outcome.Outcome, x outcome.ChunkChange) templates.OutcomeChunk {
	out := templates.OutcomeChunk{NS: sanitize.Sentence(string(x.NS)), Min: boundOf(v.Table, string(x.NS), x.Min), Max: boundOf(v.Table, string(x.NS), x.Max),
		Before: outcomeCell(o.Before, x.Before), After: outcomeCell(o.After, x.After)}
	if x.From != "" {
		out.From = refs.of(x.From)
	}
	if x.To != "" {
		out.To = refs.of(x.To)
	}
	return out
}

// outcomeCell is a rate with its share of the window; no rate: there was no such
// chunk, or the window is not counted yet.
func outcomeCell(s outcome.Side, r *heat.Rate) templates.Cell {
	if s.Covered == 0 {
		return templates.Cell{Figure: templates.Figure{Text: words.T("outcome.cell.notYet")}, Share: -1, Even: -1}
	}
	if r == nil {
		return templates.Cell{Figure: templates.Figure{Text: words.T("outcome.cell.none")}, Share: -1, Even: -1}
	}
	title := words.T("heat.rate.sampled")
	switch {
	case r.AtLeast:
		title = words.T("heat.rate.atleast")
	case r.Exact:
		title = words.T("heat.rate.exact")
	}
	return templates.Cell{Figure: templates.Figure{Known: true, Text: rateText(*r), Title: title},
		Share: r.Share, ShareText: format.Share(r.Share), Bar: r.Share, Even: -1}
}

// outcomeLevel is how an answer looks: a figure that got worse is no alarm.
func outcomeLevel(r engine.Run, o outcome.Outcome) string {
	switch {
	case o.Verdict == outcome.Helped:
		return "ok"
	case o.Verdict == outcome.Worse && !gathering(r):
		return "bad"
	}
	return "note"
}

// gathering runs are to bring writes together on one shard.
func gathering(r engine.Run) bool {
	return (r.Kind == actions.Pin || r.Kind == actions.Isolate) && r.UndoOf == ""
}

// outcomeWord is the answer in a word or two.
func outcomeWord(r engine.Run, o outcome.Outcome) string {
	code := string(o.State)
	if o.State == outcome.Measured {
		code = string(o.Verdict)
		if o.Verdict == outcome.Worse && gathering(r) {
			code = "gathered"
		}
	}
	return words.Code("outcome.word", code, nil)
}

// outcomeText is the answer in one sentence.
func outcomeText(r engine.Run, o outcome.Outcome) string {
	args := map[string]string{"before": format.Share(o.Before.Share), "after": format.Share(o.After.Share),
		"from": sanitize.Truncate(sanitize.Sentence(o.Before.Hottest), 120), "to": sanitize.Truncate(sanitize.Sentence(o.After.Hottest), 120), "minutes": strconv.Itoa(int(outcome.Window.Minutes())),
		"n": format.Count(o.Before.Total.Rows), "m": format.Count(o.After.Total.Rows)}
	if !o.KnownAt.IsZero() {
		args["at"] = format.Clock(o.KnownAt)
	}
	switch o.State {
	case outcome.Uncounted:
		code := o.Reason
		for _, c := range o.Collections {
			if c.Not == o.Reason {
				args["before"], args["after"] = secondsText(c.CoveredBefore), secondsText(c.CoveredAfter)
				args["ns"] = sanitize.Truncate(sanitize.Sentence(string(c.NS)), 120)
			}
		}
		if args["ns"] == "" {
			args["ns"] = words.T("outcome.these")
		}
		return words.Code("outcome.uncounted", code, args)
	case outcome.Measured, outcome.Shared:
		prefix := "outcome.measured"
		code := string(o.Basis)
		if o.Basis == outcome.ByShards && o.Before.Hottest == o.After.Hottest {
			code = map[outcome.Verdict]string{outcome.Helped: "fell", outcome.Worse: "rose"}[o.Verdict]
			if code == "" {
				code = "same"
			}
		}
		text := words.Code(prefix, code, args)
		if o.State == outcome.Shared {
			text = words.Plural("outcome.shared", int64(len(o.OtherRuns)), "n", strconv.Itoa(len(o.OtherRuns))) + " " + text
		}
		return text
	}
	return words.Code("outcome.state", string(o.State), args)
}

// outcomeWhyNot is why a collection is no part of a comparison; "" when it is.
func outcomeWhyNot(o outcome.Outcome, c outcome.CollectionChange) string {
	if c.Not == "" {
		return ""
	}
	return words.Code("outcome.uncounted", c.Not, map[string]string{"ns": sanitize.Truncate(sanitize.Sentence(string(c.NS)), 120),
		"before": secondsText(c.CoveredBefore), "after": secondsText(c.CoveredAfter)})
}

func outcomeNote(o outcome.Outcome, code string) string {
	n := int64(o.OtherMoves)
	if code == outcome.NoteMigrations {
		return words.Plural("outcome.note.migrations", n, "n", format.Count(n))
	}
	return words.Code("outcome.note", code, map[string]string{"before": secondsText(o.Before.Covered), "after": secondsText(o.After.Covered)})
}

// spanOf is a window by the clock.
func spanOf(s outcome.Span) string {
	return words.T("outcome.span", "from", s.From.UTC().Format("15:04"), "to", s.To.UTC().Format("15:04"))
}

func secondsText(seconds float64) string {
	return words.T("outcome.seconds", "n", strconv.Itoa(int(seconds)))
}

// points are percentage points.
func points(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) }

// costView is what a run's migrations cost; nil when it has none.
func costView(c outcome.Cost) *templates.RunCost {
	if len(c.Steps) == 0 {
		return nil
	}
	row := func(name string, est, act topology.Figure, write func(topology.Figure) templates.Figure) templates.CostRow {
		return templates.CostRow{Name: name, Estimated: write(est), Actual: write(act)}
	}
	e, a := c.Total.Estimated, c.Total.Actual
	millis := func(f topology.Figure) templates.Figure { return figure(f, tookMillis) }
	return &templates.RunCost{
		Lead: words.T("cost.lead", "moved", strconv.Itoa(c.Moved), "of", strconv.Itoa(len(c.Steps))),
		Rows: []templates.CostRow{
			row(words.T("cost.documents"), e.Documents, a.Documents, countFigure),
			row(words.T("cost.bytes"), e.Bytes, a.Bytes, bytesFigure),
			row(words.T("cost.time"), e.Millis, a.Millis, millis),
		},
	}
}

// stepCost is one migrating step's as a line; "" before it has moved anything.
func stepCost(c outcome.StepCost, state engine.State) string {
	if state != engine.Succeeded {
		return ""
	}
	text := func(a outcome.Amounts) map[string]string {
		return map[string]string{"documents": countFigure(a.Documents).Text, "bytes": bytesFigure(a.Bytes).Text, "took": figure(a.Millis, tookMillis).Text}
	}
	is := text(c.Actual)
	code := "copied"
	if !c.Actual.Bytes.Known || !c.Actual.Documents.Known {
		code = "timed"
	}
	out := words.Code("cost.step", code, is)
	if !c.Estimated.Bytes.Known {
		return out + " " + words.T("cost.step.noEstimate")
	}
	est := text(c.Estimated)
	return out + " " + words.T("cost.step.estimated", "documents", est["documents"], "bytes", est["bytes"], "took", est["took"])
}

// tookMillis writes a time with its tenths: moves of small chunks take less than a
// second.
func tookMillis(n int64) string {
	if n < 60_000 {
		return words.T("cost.seconds", "n", strconv.FormatFloat(float64(n)/1000, 'f', 1, 64))
	}
	return millisText(n)
}
