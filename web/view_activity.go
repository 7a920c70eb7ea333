package web

import (
	"net/url"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// activityQuery filters the changelog. The zero value shows what came of
// things, newest first.
type activityQuery struct {
	Kind, NS, Shard string
	Failed          bool
	Internal        bool // with the server's own collections
	Page            int  // 0 and 1 are the first
}

// activityKinds are the choices of the kind filter; "" is outcomes only.
var activityKinds = [...]string{"", "all", "move", "split", "merge", "collection", "shard"}

func activityQueryOf(in url.Values) (activityQuery, error) {
	var q activityQuery
	var err error
	if q.NS, err = text(in, "ns"); err != nil {
		return q, err
	}
	if q.Shard, err = text(in, "shard"); err != nil {
		return q, err
	}
	q.Kind = in.Get("kind")
	known := false
	for _, k := range activityKinds {
		known = known || k == q.Kind
	}
	if !known {
		return q, fault.New(fault.Invalid, "kind is one of all, move, split, merge, collection, shard; %q is not.", sanitize.Truncate(q.Kind, 40))
	}
	q.Failed = in.Get("failed") == "1"
	if q.Internal, err = internalOf(in); err != nil {
		return q, err
	}
	if q.Page, err = pageNumber(in); q.Page == 1 {
		q.Page = 0
	}
	return q, err
}

func (q activityQuery) url(page int) string {
	u := url.Values{}
	set(u, "kind", q.Kind)
	set(u, "ns", q.NS)
	set(u, "shard", q.Shard)
	if q.Failed {
		u.Set("failed", "1")
	}
	if q.Internal {
		u.Set(internalParam, "1")
	}
	return address("/activity", u, page)
}

func (q activityQuery) takes(x event) bool {
	if q.Failed && !x.failed {
		return false
	}
	if q.NS != "" && !strings.HasPrefix(x.NS, q.NS) {
		return false
	}
	if q.Shard != "" && x.from != q.Shard && x.to != q.Shard && x.Shard != q.Shard {
		return false
	}
	if q.Kind == "" && !q.Failed {
		return x.outcome()
	}
	return q.Kind == "" || q.Kind == "all" || q.Kind == eventKind(x.What)
}

// hides tells whether an entry is left out because it is about the server's own
// collections.
func (q activityQuery) hides(e topology.Event) bool {
	return !q.Internal && !asksInternal(q.NS) && e.Internal()
}

func eventKind(what string) string {
	switch {
	case strings.HasPrefix(what, "moveChunk"), strings.HasPrefix(what, "movePrimary"):
		return "move"
	case what == "split", what == "multi-split":
		return "split"
	case what == "merge", what == "autoMerge":
		return "merge"
	case strings.Contains(what, "Shard") && !strings.Contains(what, "ShardKey"):
		return "shard"
	}
	return "collection"
}

// activityView is the changelog in words, newest first.
func activityView(v View, q activityQuery) templates.Activity {
	m := templates.Activity{NS: q.NS, Failed: q.Failed, State: partState(v, topology.PartEvents)}
	bare := q
	bare.Page, bare.Internal = 0, false
	m.Filtered = bare != activityQuery{}
	for _, k := range activityKinds {
		code := k
		if code == "" {
			code = "outcomes"
		}
		m.Kinds = append(m.Kinds, templates.Option{Value: k, Text: words.T("activity.kind." + code), Selected: q.Kind == k})
	}
	m.Shards = shardOptions(v.Table, q.Shard)
	r := refsOf(v.Table)
	if !m.Filtered && q.Page < 2 {
		m.Moves = migrationsView(v, r, q.Internal)
		m.Moving = inFlightView(v, v.Table.Moves.List, flightsListed)
	}
	var hits []event
	hidden := 0
	for _, e := range v.Table.Events {
		switch x := readEvent(e); {
		case !q.takes(x):
		case q.hides(e):
			hidden++
		default:
			hits = append(hits, x)
		}
	}
	m.Folded = foldedNote("entries", q.url(0), hidden, q.Internal)
	reasons := v.reasons()
	var from, to int
	m.Pager, from, to = pager(len(hits), q.Page, q.url)
	for _, x := range hits[from:to] {
		m.Rows = append(m.Rows, eventRow(v, r, x.because(reasons)))
	}
	if len(hits) == 0 && m.State.Code == "" {
		m.State = templates.State{Code: "empty", Title: words.T("events.none"), Detail: words.T("events.none.detail")}
		if m.Folded != nil && hidden > 0 {
			m.State.Title, m.State.Detail = words.T("internal.only"), ""
		}
		if m.Filtered {
			m.State.Title, m.State.Detail = words.T("events.nomatch"), words.T("events.nomatch.detail", "n", format.Count(int64(len(v.Table.Events))))
		}
	}
	return m
}

// shardOptions is a select of shards with "any" first.
func shardOptions(t *topology.Table, selected string) []templates.Option {
	out := []templates.Option{{Text: words.T("filter.any"), Selected: selected == ""}}
	for _, s := range t.Shards {
		out = append(out, templates.Option{Value: s.Name, Text: s.Name, Selected: s.Name == selected})
	}
	return out
}
