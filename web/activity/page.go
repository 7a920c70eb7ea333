// Package activity shows what the cluster did: the changelog, migrations, the
// history of changes and the difference between two times.
package activity

import (
	"context"
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// page is the changelog with its filter. Moves are shown above it, but not on
// its further pages and not where entries are filtered.
type page struct {
	query   logbook.ActivityQuery
	problem string // what is wrong with the times that were typed
	list    api.FoldedList[api.Event]
	pager   templates.Pager
	counts  logbook.ActivityCounts

	moves    *api.Moves
	inFlight api.MovingNow

	view    answer.View // for ages, and what could be read
	refs    templates.Refs
	liveURL string
}

// shardOptions are the shards that a filter can choose.
func (m page) shardOptions() []templates.Option {
	return templates.ShardOptions(m.view.Table, m.query.Shard)
}

// Page is the changelog in words, newest first.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q, err := param.Read[logbook.ActivityQuery](r.URL.Query())
	status, problem := http.StatusOK, ""
	if in := r.URL.Query(); fault.Of(err) == fault.Invalid && (in.Has("from") || in.Has("to") || in.Has("last")) {
		// A time that was typed is to be corrected in place.
		status, problem = fault.Invalid.HTTPStatus(), fault.Text(err)
		in.Del("from")
		in.Del("to")
		in.Del("last")
		q, err = param.Read[logbook.ActivityQuery](in)
	}
	if err != nil {
		return err
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	v.Eras = s.Eras(v)
	m, err := newPage(r.Context(), v, s.Deps.Past.History, q)
	if err != nil {
		return err
	}
	m.problem = problem
	if q != (logbook.ActivityQuery{}) || problem != "" {
		m.liveURL = r.URL.RequestURI()
	}
	sh := s.Shell(r, v, "activity", "Activity", "activity")
	return site.WritePage(w, r, status, activityPage(sh, m))
}

// Region is the part of the unfiltered page that is drawn again when something
// changes.
func Region(ctx context.Context, v answer.View) (templ.Component, error) {
	m, err := newPage(ctx, v, nil, logbook.ActivityQuery{})
	return region(m), err
}

func newPage(ctx context.Context, v answer.View, kept *history.Past, q logbook.ActivityQuery) (m page, err error) {
	m = page{query: q, view: v, refs: templates.RefsOf(v.Table)}
	if m.list, m.counts, err = logbook.Activity(ctx, v, kept, q); err != nil {
		return m, err
	}
	m.pager = templates.EventPagerOf(m.counts.Listed, q.Page, q.URL)
	if !q.Filtered() && q.Page < 2 {
		moves := logbook.Moves(v, q.Internal)
		m.moves, m.inFlight = &moves, logbook.MovingNow(v, v.Table.Moves.List, logbook.FlightsListed)
	}
	return m, nil
}

// state says why there are no entries, or what is wrong with them.
func (m page) state() api.State {
	state := answer.PartState(m.view, topology.PartEvents)
	switch {
	case m.counts.Listed > 0 || state.Code != "":
		return state
	case m.query.Timed():
		return api.State{Code: "empty", Title: "No entry of this time matches the filter"}
	case m.query.Filtered():
		return api.State{Code: "empty", Title: "No entry matches the filter",
			Detail: "Entries searched: " + format.Count(int64(len(m.view.Table.Events))) + "."}
	case m.list.Hidden > 0:
		return api.State{Code: "empty", Title: "The log has entries of internal collections only."}
	}
	return api.State{Code: "empty", Title: "Nothing has happened yet",
		Detail: "The changelog is empty: no split, move or merge has been recorded."}
}

// kinds are the choices of the filter.
func (m page) kinds() []templates.Option {
	var out []templates.Option
	for _, k := range logbook.ActivityKinds {
		out = append(out, templates.Option{Value: k, Text: kindLabels[k], Selected: m.query.Kind == k})
	}
	return out
}

// outcomes are the choices of the other filter.
func (m page) outcomes() []templates.Option {
	out := []templates.Option{{Value: "", Text: "any"}, {Value: "committed", Text: "committed"}, {Value: "failed", Text: "failed"}}
	for i := range out {
		out[i].Selected = out[i].Value == m.query.Outcome
	}
	return out
}

var kindLabels = map[string]string{
	"": "outcomes", "all": "every entry", "move": "moves", "split": "splits", "merge": "merges", "collection": "collections",
	"shard": "shards",
}
