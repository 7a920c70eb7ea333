package answer

import (
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// orphansText is what is known of orphaned documents, in one or two sentences.
func OrphansText(o topology.Orphans) string {
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

// orphansOf is the same in the API's form.
func OrphansOf(o topology.Orphans) api.Orphans {
	out := api.Orphans{State: string(o.State), Text: OrphansText(o), Ranges: o.Ranges, Until: api.Time(o.Until), Count: api.Figure{Reason: o.Reason}}
	if o.State == topology.OrphansCounted {
		out.Count = FigureOf(o.Count)
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
