package parts

import (
	"fmt"

	"shardboard/internal/api"
	"shardboard/web/templates"
)

// SurveyFigure writes a figure with its interval: an estimate never stands
// alone.
func SurveyFigure(f api.SurveyFigure, write func(int64) string) templates.Figure {
	switch {
	case f.Value == nil:
		most := write(f.High)
		return templates.Figure{Known: true, Text: "≤ " + most,
			Title: "No row was seen; after so many random rows there are at most " + most + " in 95 of 100 cases."}
	case f.AtLeast:
		return templates.Figure{Known: true, Text: "≥ " + write(*f.Value), Title: "Counting ended before the last row."}
	case f.Exact:
		return templates.Figure{Known: true, Text: write(*f.Value), Title: "Counted exactly."}
	}
	return templates.Figure{Known: true, Approx: true,
		Text:  fmt.Sprintf("%s ± %s", write(*f.Value), write(max(f.High-*f.Value, *f.Value-f.Low))),
		Title: fmt.Sprintf("The truth is between %s and %s in 95 of 100 cases.", write(f.Low), write(f.High))}
}
