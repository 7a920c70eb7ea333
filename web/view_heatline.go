package web

import (
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// heatLine is what a collection, or one chunk of it, takes; empty where nothing
// was counted lately. chunk is a position, negative for the collection.
func (s *Site) heatLine(v View, ns topology.Namespace, chunk int) templates.HeatLine {
	if s.deps.Heat == nil {
		return templates.HeatLine{}
	}
	w := s.deps.Heat.Window(ns, defaultWindow)
	if w.Seconds == 0 {
		return templates.HeatLine{}
	}
	span := []string{"span", format.Span(defaultWindow), "at", format.Clock(w.To)}
	out := templates.HeatLine{URL: heatQuery{ns: ns, window: defaultWindow, span: mapSpan, by: "key"}.address()}
	if w.Method == heat.ChangedRows {
		return changedLine(out, v, s.deps.Profile, w, chunk, span)
	}
	if chunk < 0 {
		out.Text = words.T("heat.line", append(span, "rate", rateText(w.Total))...)
		return out
	}
	out.Text = words.T("heat.line.none", span...)
	for _, l := range w.Chunks(v.Table, s.deps.Profile) {
		if l.Chunk == chunk {
			out.Text = words.T("heat.line.chunk", append(span, "rate", rateText(l.Rate), "share", format.Share(l.Rate.Share))...)
		}
	}
	return out
}

// changedLine is of rows that are changed in place: at least so many. Where none
// were counted, nothing is known, and nothing is said.
func changedLine(out templates.HeatLine, v View, prof *profile.Profile, w heat.Window, chunk int, span []string) templates.HeatLine {
	rate := w.Total
	if chunk >= 0 {
		rate = heat.Rate{}
		for _, l := range w.Chunks(v.Table, prof) {
			if l.Chunk == chunk {
				rate = l.Rate
			}
		}
	}
	if rate.Rows == 0 {
		return templates.HeatLine{}
	}
	out.Text = words.T("heat.line.changed", append(span, "rate", rateText(rate))...)
	return out
}
