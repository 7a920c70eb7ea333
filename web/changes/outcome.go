package changes

import (
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/web/templates"
)

// A page lists so many chunks of an outcome, and leads to so many other runs.
const (
	chunksShown  = 12
	othersListed = 5
)

func outcomeLevel(r api.Run) string {
	switch {
	case changing.Helped(r):
		return "ok"
	case changing.MadeWorse(r):
		return "bad"
	}
	return "note"
}

// rateCell is a rate with its share of a window.
func rateCell(w api.OutcomeWindow, r *api.OutcomeRate) templates.Cell {
	text, how, known := changing.OutcomeRateText(w, r)
	c := templates.Cell{Figure: templates.Figure{Known: known, Text: text, Title: how}, Share: -1, Even: -1}
	if known {
		c.Share, c.ShareText, c.Bar = r.Share, format.Share(r.Share), r.Share
	}
	return c
}
