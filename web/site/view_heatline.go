package site

import (
	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// heatLine is what a collection, or one chunk of it, takes; empty where nothing
// was counted lately. chunk is a position, negative for the collection.
func (s *Site) HeatLine(v answer.View, ns topology.Namespace, chunk int) templates.HeatLine {
	if s.Deps.Heat == nil {
		return templates.HeatLine{}
	}
	w := s.Deps.Heat.Window(ns, answer.DefaultWindow)
	if w.Seconds == 0 {
		return templates.HeatLine{}
	}
	span := []string{"span", format.Span(answer.DefaultWindow), "at", format.Clock(w.To)}
	out := templates.HeatLine{URL: answer.HeatQuery{Ns: ns, Window: answer.DefaultWindow, Span: answer.MapSpan, By: "key"}.Address()}
	if w.Method == heat.ChangedRows {
		return parts.ChangedLine(out, v, s.Deps.Profile, w, chunk, span)
	}
	if chunk < 0 {
		out.Text = words.T("heat.line", append(span, "rate", answer.RateText(w.Total))...)
		return out
	}
	out.Text = words.T("heat.line.none", span...)
	for _, l := range w.Chunks(v.Table, s.Deps.Profile) {
		if l.Chunk == chunk {
			out.Text = words.T("heat.line.chunk", append(span, "rate", answer.RateText(l.Rate), "share", format.Share(l.Rate.Share))...)
		}
	}
	return out
}
