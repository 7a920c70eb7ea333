package parts

import (
	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// orphansFigure is the same as a figure with a title.
func orphansFigure(o topology.Orphans) templates.Figure {
	switch o.State {
	case topology.OrphansCounted:
		f := CountFigure(o.Count)
		f.Title, f.Approx = answer.OrphansText(o)+" "+f.Title, f.Approx && o.Count.Value > 0
		return f
	case topology.OrphansPending:
		text := words.T("orphans.pending.some")
		if o.AtMost.Known {
			text = words.T("orphans.pending.short", "n", format.Count(o.AtMost.Value))
		}
		return templates.Figure{Known: true, Text: text, Title: answer.OrphansText(o)}
	case topology.OrphansQuiet:
		return templates.Figure{Text: words.T("orphans.quiet.short"), Title: answer.OrphansText(o)}
	}
	return templates.Figure{Text: words.T("orphans.unknown.short"), Title: answer.OrphansText(o)}
}

func OrphansFact(o topology.Orphans) templates.Fact {
	return templates.Fact{Name: words.T("fact.orphans"), Figure: orphansFigure(o)}
}
