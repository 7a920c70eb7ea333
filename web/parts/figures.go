package parts

import (
	"fmt"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// Bytes and Count write a figure of an answer.
func Bytes(f api.Figure) templates.Figure { return figure(f, format.Bytes) }

func Count(f api.Figure) templates.Figure { return figure(f, format.Count) }

// BytesFigure and CountFigure write a figure of the routing table.
func BytesFigure(f topology.Figure) templates.Figure { return Bytes(answer.FigureOf(f)) }

func CountFigure(f topology.Figure) templates.Figure { return Count(answer.FigureOf(f)) }

func Figure(f topology.Figure, write func(int64) string) templates.Figure {
	return figure(answer.FigureOf(f), write)
}

func figure(f api.Figure, write func(int64) string) templates.Figure {
	if f.Value == nil {
		return templates.Figure{Text: topology.ReasonText(f.Reason), Title: words.Code("reason.title", f.Reason, nil)}
	}
	// $collStats reports what the storage engine keeps count of: off by little
	// after a crash, and with orphans in it. Marking every figure as an estimate
	// for that would hide the ones that really are; its title says the method.
	out := templates.Figure{Known: true, Text: write(*f.Value), Approx: !f.Exact && f.Method != "collStats"}
	how := words.Code("method", f.Method, nil)
	switch {
	case f.At.IsZero():
		out.Title = how
	case f.PlusMinus > 0:
		out.Title = fmt.Sprintf("%s at %s, ± %s", how, format.Clock(f.At), write(f.PlusMinus))
	default:
		out.Title = fmt.Sprintf("%s at %s", how, format.Clock(f.At))
	}
	return out
}

// exact is a count that the routing table itself gives.
func Exact(n int) templates.Figure {
	return templates.Figure{Known: true, Text: format.Count(int64(n)), Title: "Counted in the routing table"}
}

// Cells turns one column of figures into cells with shares and bars: bars are
// scaled to the largest share, the tick is where an even share would be.
func Cells(figures []api.Figure, write func(api.Figure) templates.Figure) []templates.Cell {
	var total, top int64
	known := 0
	for _, f := range figures {
		if f.Value != nil {
			known++
			total += *f.Value
			top = max(top, *f.Value)
		}
	}
	out := make([]templates.Cell, len(figures))
	for i, f := range figures {
		out[i] = templates.Cell{Figure: write(f), Share: -1, Even: -1}
		if f.Value == nil || total == 0 {
			continue
		}
		out[i].Share = answer.Share(*f.Value, total)
		out[i].ShareText = format.Share(out[i].Share)
		out[i].Bar = answer.Share(*f.Value, top)
		if known > 1 && known == len(figures) {
			out[i].Even = float64(total) / float64(known) / float64(top)
		}
	}
	return out
}
