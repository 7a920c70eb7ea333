// Package activity shows what the cluster did: the changelog, migrations, the
// history of changes and the difference between two times.
package activity

import (
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// page is the changelog with its filter. Moves are shown above it, but not on
// its further pages and not where entries are filtered.
type page struct {
	query    answer.ActivityQuery
	list     api.FoldedList[api.Event]
	pager    templates.Pager
	matching int

	moves    *api.Moves
	inFlight api.MovingNow

	view    answer.View // for ages, and what could be read
	refs    templates.Refs
	liveURL string
}

// Page is the changelog in words, newest first.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q, err := answer.ParseActivityQuery(r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	v.Eras = s.Eras(v)
	m := newPage(v, q)
	if q != (answer.ActivityQuery{}) {
		m.liveURL = r.URL.RequestURI()
	}
	sh := s.Shell(r, v, "activity", "Activity", "activity")
	return site.WritePage(w, r, http.StatusOK, activityPage(sh, m))
}

// Region is the part of the unfiltered page that is drawn again when something
// changes.
func Region(v answer.View) templ.Component { return region(newPage(v, answer.ActivityQuery{})) }

func newPage(v answer.View, q answer.ActivityQuery) page {
	m := page{query: q, view: v, refs: templates.RefsOf(v.Table)}
	m.list, m.matching = answer.Activity(v, q)
	m.pager = templates.PagerOf(m.matching, q.Page, q.URL)
	if !q.Filtered() && q.Page < 2 {
		moves := answer.Moves(v, q.Internal)
		m.moves, m.inFlight = &moves, answer.MovingNow(v, v.Table.Moves.List, answer.FlightsListed)
	}
	return m
}

// state says why there are no entries, or what is wrong with them.
func (m page) state() api.State {
	state := answer.PartState(m.view, topology.PartEvents)
	switch {
	case m.matching > 0 || state.Code != "":
		return state
	case m.query.Filtered():
		return api.State{Code: "empty", Title: "No entry matches the filter",
			Detail: format.Count(int64(len(m.view.Table.Events))) + " entries were searched."}
	case m.list.Hidden > 0:
		return api.State{Code: "empty", Title: "The log has entries of internal collections only."}
	}
	return api.State{Code: "empty", Title: "Nothing has happened yet",
		Detail: "The changelog is empty: no split, move or merge has been recorded."}
}

// kinds are the choices of the filter.
func (m page) kinds() []templates.Option {
	var out []templates.Option
	for _, k := range answer.ActivityKinds {
		out = append(out, templates.Option{Value: k, Text: kindLabels[k], Selected: m.query.Kind == k})
	}
	return out
}

var kindLabels = map[string]string{
	"": "outcomes", "all": "every entry", "move": "moves", "split": "splits", "merge": "merges", "collection": "collections",
	"shard": "shards",
}
