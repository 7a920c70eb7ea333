package activity

import (
	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// activityView is the changelog in words, newest first.
func ActivityView(v answer.View, q answer.ActivityQuery) Activity {
	m := Activity{NS: q.NS, Failed: q.Failed, State: parts.PartState(v, topology.PartEvents)}
	bare := q
	bare.Page, bare.Internal = 0, false
	m.Filtered = bare != answer.ActivityQuery{}
	for _, k := range answer.ActivityKinds {
		code := k
		if code == "" {
			code = "outcomes"
		}
		m.Kinds = append(m.Kinds, templates.Option{Value: k, Text: words.T("activity.kind." + code), Selected: q.Kind == k})
	}
	m.Shards = parts.ShardOptions(v.Table, q.Shard)
	r := parts.RefsOf(v.Table)
	if !m.Filtered && q.Page < 2 {
		m.Moves = migrationsView(v, r, q.Internal)
		m.Moving = parts.InFlightView(v, v.Table.Moves.List, answer.FlightsListed)
	}
	var hits []answer.Event
	hidden := 0
	for _, e := range v.Table.Events {
		switch x := answer.ReadEvent(e); {
		case !q.Takes(x):
		case q.Hides(e):
			hidden++
		default:
			hits = append(hits, x)
		}
	}
	m.Folded = parts.FoldedNote("entries", q.Url(0), hidden, q.Internal)
	reasons := v.Reasons()
	var from, to int
	m.Pager, from, to = parts.Pager(len(hits), q.Page, q.Url)
	for _, x := range hits[from:to] {
		m.Rows = append(m.Rows, parts.EventRow(v, r, x.Because(reasons)))
	}
	if len(hits) == 0 && m.State.Code == "" {
		m.State = templates.State{Code: "empty", Title: "Nothing has happened yet", Detail: "The changelog is empty: no split, move or merge has been recorded."}
		if m.Folded != nil && hidden > 0 {
			m.State.Title, m.State.Detail = "Nothing is logged but entries of internal collections.", ""
		}
		if m.Filtered {
			m.State.Title, m.State.Detail = "No entry matches the filter", format.Count(int64(len(v.Table.Events)))+" entries were looked through."
		}
	}
	return m
}
