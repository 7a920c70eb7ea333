package data

import (
	"fmt"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// orphansText is what is known of orphaned documents, in one or two sentences.
func orphansText(o topology.Orphans) string {
	const quiet = " None are expected: no range with documents has left in the last 15 minutes. " +
		"If there are any, the figures of documents and data include them."
	switch o.State {
	case topology.OrphansCounted:
		return "Counted by the shards. Other figures of documents and data leave them out."
	case topology.OrphansPending:
		return fmt.Sprintf(message.Plural(o.Ranges,
			"Not counted yet: %s range left in the last 15 minutes, and its documents stay until about %s.",
			"Not counted yet: %s ranges left in the last 15 minutes, and their documents stay until about %s."),
			format.Count(int64(o.Ranges)), format.Clock(o.Until))
	case topology.OrphansQuiet:
		switch o.Reason {
		case "notReported":
			return "This MongoDB version does not count them." + quiet
		case "notPermitted":
			return "Counting them is not permitted." + quiet
		}
		return "They were not counted." + quiet
	}
	return "Neither counted nor in the changelog: " + strings.TrimSuffix(topology.ReasonText(o.Reason), ".") + "."
}

// OrphansOf is everything that is known of orphaned documents.
func OrphansOf(o topology.Orphans) api.Orphans {
	out := api.Orphans{State: string(o.State), Text: orphansText(o), Ranges: o.Ranges, Until: api.Time(o.Until),
		Count: api.Figure{Reason: o.Reason}}
	if o.State == topology.OrphansCounted {
		out.Count = answer.FigureOf(o.Count)
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
