package writes

import (
	"context"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// HeatLogMost is how many stored entries of one collection a picture is made with.
const HeatLogMost = 2000

// HeatLog is what the changelog has of a collection in the time of a picture, newest first.
type HeatLog struct {
	Events []topology.Event
	Since  time.Time // before this, entries are not known; zero: nothing is known
}

// ReadHeatLog takes entries from the table, and those from before its log from history.
func ReadHeatLog(ctx context.Context, v answer.View, kept *history.Past, ns topology.Namespace, from time.Time) HeatLog {
	var out HeatLog
	for _, e := range v.Table.Events { // newest first
		if e.Time.Before(from) {
			continue
		}
		if e.NS == string(ns) {
			out.Events = append(out.Events, e)
		}
	}
	if n := len(v.Table.Events); n > 0 {
		out.Since = v.Table.Events[n-1].Time.UTC()
	}
	if kept == nil || out.Since.IsZero() || !from.Before(out.Since) {
		return out
	}
	// A picture without what is stored is worth showing: since says how far it reaches.
	begin, err := kept.FirstEvent(ctx, v.Table.ClusterID)
	if err != nil || !begin.Before(out.Since) {
		return out
	}
	older, err := kept.EventsOf(ctx, v.Table.ClusterID, ns, from, out.Since, HeatLogMost)
	if err != nil {
		return out
	}
	out.Events, out.Since = append(out.Events, older...), begin.UTC()
	if len(older) == HeatLogMost {
		out.Since = older[len(older)-1].Time.UTC()
	}
	return out
}
