package answer

import (
	"context"
	"time"

	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// heatLogMost is how many stored entries of one collection a picture is made with.
const heatLogMost = 2000

// heatLog is what the changelog has of a collection in the time of a picture, newest first.
type heatLog struct {
	events []topology.Event
	since  time.Time // before this, entries are not known; zero: nothing is known
}

// readHeatLog takes entries from the table, and those from before its log from history.
func readHeatLog(ctx context.Context, v View, kept *history.Past, ns topology.Namespace, from time.Time) heatLog {
	var out heatLog
	for _, e := range v.Table.Events { // newest first
		if e.Time.Before(from) {
			continue
		}
		if e.NS == string(ns) {
			out.events = append(out.events, e)
		}
	}
	if n := len(v.Table.Events); n > 0 {
		out.since = v.Table.Events[n-1].Time.UTC()
	}
	if kept == nil || out.since.IsZero() || !from.Before(out.since) {
		return out
	}
	// A picture without what is stored is worth showing: since says how far it reaches.
	begin, err := kept.FirstEvent(ctx, v.Table.ClusterID)
	if err != nil || !begin.Before(out.since) {
		return out
	}
	older, err := kept.EventsOf(ctx, v.Table.ClusterID, ns, from, out.since, heatLogMost)
	if err != nil {
		return out
	}
	out.events, out.since = append(out.events, older...), begin.UTC()
	if len(older) == heatLogMost {
		out.since = older[len(older)-1].Time.UTC()
	}
	return out
}
