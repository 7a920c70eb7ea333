package web

import (
	"time"

	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// sum adds figures of which some may be unknown. What is missing makes the
// total an estimate; nothing known at all makes it unknown.
type sum struct {
	value   int64
	known   int
	missing int
	approx  bool
	method  string
	oldest  time.Time
	reason  string
}

func (s *sum) add(f topology.Figure) {
	if !f.Known {
		s.missing++
		s.reason = f.Reason
		return
	}
	s.known++
	s.value += f.Value
	s.approx = s.approx || !f.Exact
	s.method = f.Method
	if s.oldest.IsZero() || f.At.Before(s.oldest) {
		s.oldest = f.At
	}
}

func (s *sum) figure() topology.Figure {
	if s.known == 0 {
		reason := s.reason
		if reason == "" {
			reason = "notLoaded"
		}
		return topology.Figure{Reason: reason}
	}
	f := topology.Figure{Known: true, Value: s.value, Exact: !s.approx && s.missing == 0, Method: s.method, At: s.oldest}
	if s.missing > 0 {
		f.Method = "partial"
	}
	return f
}

// bytesFigure and countFigure write a figure for a page.
func bytesFigure(f topology.Figure) templates.Figure { return figure(f, format.Bytes) }
func countFigure(f topology.Figure) templates.Figure { return figure(f, format.Count) }

func figure(f topology.Figure, write func(int64) string) templates.Figure {
	if !f.Known {
		return templates.Figure{Text: topology.ReasonText(f.Reason), Title: words.Code("reason.title", f.Reason, nil)}
	}
	// $collStats reports what the storage engine keeps count of: off by little
	// after a crash, and with orphans in it. Marking every figure as an estimate
	// for that would hide the ones that really are; its title says the method.
	out := templates.Figure{Known: true, Text: write(f.Value), Approx: !f.Exact && f.Method != "collStats"}
	how := words.Code("method", f.Method, nil)
	switch {
	case f.At.IsZero():
		out.Title = how
	case f.PlusMinus > 0:
		out.Title = words.T("figure.plusminus", "how", how, "at", format.Clock(f.At), "n", write(f.PlusMinus))
	default:
		out.Title = words.T("figure.at", "how", how, "at", format.Clock(f.At))
	}
	return out
}

// exact is a count that the routing table itself gives.
func exact(n int) templates.Figure {
	return templates.Figure{Known: true, Text: format.Count(int64(n)), Title: words.T("method.routing")}
}

// share is a/b, negative when unknown.
func share(a, b int64) float64 {
	if b <= 0 {
		return -1
	}
	return float64(a) / float64(b)
}

// cells turns one column of figures into cells with shares and bars: bars are
// scaled to the largest share, the tick is where an even share would be.
func cells(figures []topology.Figure, write func(topology.Figure) templates.Figure) []templates.Cell {
	var total, top int64
	known := 0
	for _, f := range figures {
		if f.Known {
			known++
			total += f.Value
			top = max(top, f.Value)
		}
	}
	out := make([]templates.Cell, len(figures))
	for i, f := range figures {
		out[i] = templates.Cell{Figure: write(f), Share: -1, Even: -1}
		if !f.Known || total == 0 {
			continue
		}
		out[i].Share = share(f.Value, total)
		out[i].ShareText = format.Share(out[i].Share)
		out[i].Bar = share(f.Value, top)
		if known > 1 && known == len(figures) {
			out[i].Even = float64(total) / float64(known) / float64(top)
		}
	}
	return out
}

// sizeOf is one collection over all shards.
func sizeOf(t *topology.Table, ns topology.Namespace) (bytes, documents, orphans topology.Figure) {
	var b, d, o sum
	if len(t.Sizes[ns].Shards) == 0 {
		one := t.SizeOn(ns, "")
		return one.Bytes, one.Documents, one.Orphans
	}
	for _, s := range t.Sizes[ns].Shards {
		b.add(s.Bytes)
		d.add(s.Documents)
		o.add(s.Orphans)
	}
	return b.figure(), d.figure(), o.figure()
}
