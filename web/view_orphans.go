package web

import (
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// orphansText is what is known of orphaned documents, in one or two sentences.
func orphansText(o topology.Orphans) string {
	switch o.State {
	case topology.OrphansCounted:
		return words.T("orphans.counted")
	case topology.OrphansPending:
		return words.Plural("orphans.pending", int64(o.Ranges), "n", format.Count(int64(o.Ranges)), "until", format.Clock(o.Until))
	case topology.OrphansQuiet:
		switch o.Reason {
		case "notReported":
			return words.T("orphans.quiet")
		case "notPermitted":
			return words.T("orphans.quiet.denied")
		}
		return words.T("orphans.quiet.other")
	}
	return words.T("orphans.unknown", "why", strings.TrimSuffix(topology.ReasonText(o.Reason), "."))
}

// orphansFigure is the same as a figure with a title.
func orphansFigure(o topology.Orphans) templates.Figure {
	switch o.State {
	case topology.OrphansCounted:
		f := countFigure(o.Count)
		f.Title, f.Approx = orphansText(o)+" "+f.Title, f.Approx && o.Count.Value > 0
		return f
	case topology.OrphansPending:
		text := words.T("orphans.pending.some")
		if o.AtMost.Known {
			text = words.T("orphans.pending.short", "n", format.Count(o.AtMost.Value))
		}
		return templates.Figure{Known: true, Text: text, Title: orphansText(o)}
	case topology.OrphansQuiet:
		return templates.Figure{Text: words.T("orphans.quiet.short"), Title: orphansText(o)}
	}
	return templates.Figure{Text: words.T("orphans.unknown.short"), Title: orphansText(o)}
}

func orphansFact(o topology.Orphans) templates.Fact {
	return templates.Fact{Name: words.T("fact.orphans"), Figure: orphansFigure(o)}
}

// orphansOf is the same in the API's form.
func orphansOf(o topology.Orphans) api.Orphans {
	out := api.Orphans{State: string(o.State), Text: orphansText(o), Ranges: o.Ranges, Until: api.Time(o.Until), Count: api.Figure{Reason: o.Reason}}
	if o.State == topology.OrphansCounted {
		out.Count = figureOf(o.Count)
	}
	if out.Count.Value == nil && out.Count.Reason == "" {
		out.Count.Reason = "older" // than the last range that left
	}
	if o.State == topology.OrphansPending && o.AtMost.Known {
		most := o.AtMost.Value
		out.AtMost = &most
	}
	return out
}
