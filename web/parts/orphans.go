package parts

import (
	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// orphansFigure is the same as a figure with a title.
func orphansFigure(o topology.Orphans) templates.Figure {
	switch o.State {
	case topology.OrphansCounted:
		f := CountFigure(o.Count)
		f.Title, f.Approx = answer.OrphansText(o)+" "+f.Title, f.Approx && o.Count.Value > 0
		return f
	case topology.OrphansPending:
		text := "possible"
		if o.AtMost.Known {
			text = "up to " + format.Count(o.AtMost.Value)
		}
		return templates.Figure{Known: true, Text: text, Title: answer.OrphansText(o)}
	case topology.OrphansQuiet:
		return templates.Figure{Text: "none expected", Title: answer.OrphansText(o)}
	}
	return templates.Figure{Text: "not known", Title: answer.OrphansText(o)}
}

func OrphansFact(o topology.Orphans) templates.Fact {
	return templates.Fact{Name: "Orphaned documents", Figure: orphansFigure(o)}
}
