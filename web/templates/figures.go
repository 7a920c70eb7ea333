package templates

import (
	"fmt"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/topology"
)

// Figure is a number ready to be shown, or the words for why there is none.
type Figure struct {
	Text   string // with its unit when the column header does not say it
	Known  bool
	Approx bool   // an estimate: drawn with ≈
	Title  string // how and when it was measured, or what to do about its absence
}

// Bytes is a figure of bytes.
func Bytes(f api.Figure) Figure { return Written(f, format.Bytes) }

// Count is a figure of things that are counted.
func Count(f api.Figure) Figure { return Written(f, format.Count) }

// Written is a figure in its own way of writing, such as a duration.
func Written(f api.Figure, write func(int64) string) Figure {
	if f.Value == nil {
		return Figure{Text: topology.ReasonText(f.Reason), Title: HowKnown(f)}
	}
	// $collStats reports what the storage engine keeps count of: off by little
	// after a crash, and with orphans in it. Marking every figure as an estimate
	// for that would hide the ones that really are; its title says the method.
	out := Figure{Known: true, Text: write(*f.Value), Approx: !f.Exact && f.Method != "collStats", Title: HowKnown(f)}
	switch {
	case f.At.IsZero():
	case f.PlusMinus > 0:
		out.Title += fmt.Sprintf(" at %s, ± %s", format.Clock(f.At), write(f.PlusMinus))
	default:
		out.Title += " at " + format.Clock(f.At)
	}
	return out
}

// HowKnown says how a figure was measured, or what to do about its absence.
func HowKnown(f api.Figure) string {
	if f.Value == nil {
		return topology.ReasonDetail(f.Reason)
	}
	return topology.MethodText(f.Method)
}

// Exact is a count that the routing table itself gives.
func Exact(n int) Figure {
	return Figure{Known: true, Text: format.Count(int64(n)), Title: "Counted in the routing table"}
}

// SurveyFigure is a figure with its interval: an estimate never stands alone.
func SurveyFigure(f api.SurveyFigure, write func(int64) string) Figure {
	switch {
	case f.Value == nil:
		most := write(f.High)
		return Figure{Known: true, Text: "≤ " + most,
			Title: "No row was seen; after so many random rows there are at most " + most + " in 95 of 100 cases."}
	case f.AtLeast:
		return Figure{Known: true, Text: "≥ " + write(*f.Value), Title: "Counting ended before the last row."}
	case f.Exact:
		return Figure{Known: true, Text: write(*f.Value), Title: "Counted exactly."}
	}
	return Figure{Known: true, Approx: true,
		Text:  fmt.Sprintf("%s ± %s", write(*f.Value), write(max(f.High-*f.Value, *f.Value-f.Low))),
		Title: fmt.Sprintf("The truth is between %s and %s in 95 of 100 cases.", write(f.Low), write(f.High))}
}

// Cell is a figure with its share of the column, drawn as a bar.
type Cell struct {
	Figure
	Share     float64 // 0..1 of the column's total; negative when unknown
	ShareText string
	Bar       float64 // 0..1 of the bar's full width
	Even      float64 // 0..1 where an even share would be; negative for none
}

// titled is the title attribute of a figure; one whose column's head says it has none.
func titled(title string) templ.Attributes {
	if title == "" {
		return nil
	}
	return templ.Attributes{"title": title}
}

// Under is a figure in a row below that of the sum. It does not repeat how the sum was measured.
func (f Figure) Under(sum Figure) Figure {
	if f.Title == sum.Title {
		f.Title = ""
	}
	return f
}

// CommonTitle takes the title that all cells of a column share, for the column's head: a hundred rows need not
// repeat it. It is "" where they differ.
func CommonTitle(column []Cell) string {
	if len(column) == 0 {
		return ""
	}
	common := column[0].Title
	for _, c := range column {
		if c.Title != common {
			return ""
		}
	}
	for i := range column {
		column[i].Title = ""
	}
	return common
}

// Cells turns one column of figures into cells with shares and bars: bars are scaled to the largest share, the tick is
// where an even share among those that do not drain would be.
func Cells(figures []api.Figure, write func(api.Figure) Figure, drains map[int]bool) []Cell {
	var total, top int64
	known, staying := 0, 0
	for i, f := range figures {
		if f.Value != nil {
			known++
			total += *f.Value
			top = max(top, *f.Value)
		}
		if !drains[i] {
			staying++
		}
	}
	even, scale := -1.0, float64(top)
	if staying > 1 && known == len(figures) {
		even = float64(total) / float64(staying)
		scale = max(scale, even)
	}
	out := make([]Cell, len(figures))
	for i, f := range figures {
		out[i] = Cell{Figure: write(f), Share: -1, Even: -1}
		if f.Value == nil || total == 0 {
			continue
		}
		out[i].Share = answer.Share(*f.Value, total)
		out[i].ShareText = format.Share(out[i].Share)
		out[i].Bar = float64(*f.Value) / scale
		if even >= 0 && !drains[i] {
			out[i].Even = even / scale
		}
	}
	return out
}
