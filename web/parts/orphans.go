package parts

import (
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// orphansFigure is the same as a figure with a title.
func orphansFigure(o api.Orphans) templates.Figure {
	switch topology.OrphanState(o.State) {
	case topology.OrphansCounted:
		f := Count(o.Count)
		f.Title, f.Approx = o.Text+" "+f.Title, f.Approx && *o.Count.Value > 0
		return f
	case topology.OrphansPending:
		text := "possible"
		if o.AtMost != nil {
			text = "up to " + format.Count(*o.AtMost)
		}
		return templates.Figure{Known: true, Text: text, Title: o.Text}
	case topology.OrphansQuiet:
		return templates.Figure{Text: "none expected", Title: o.Text}
	}
	return templates.Figure{Text: "not known", Title: o.Text}
}

func OrphansFact(o api.Orphans) templates.Fact {
	return templates.Fact{Name: "Orphaned documents", Figure: orphansFigure(o)}
}
