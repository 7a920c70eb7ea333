package activity

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// events lists the changelog, newest first.
func events(s *site.Site, r *http.Request) (a api.FoldedList[api.Event], err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	q, err := param.Read[logbook.EventsQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	v.Eras = s.Eras(v)
	return logbook.Events(r.Context(), v, s.Deps.Past.History, q)
}

// bars counts the entries of the changelog over time.
func bars(s *site.Site, r *http.Request) (a api.FoldedList[api.ActivityBar], err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	q, err := param.Read[logbook.ActivityQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	return logbook.ActivityBars(r.Context(), v, s.Deps.Past.History, q)
}

// ofMigrations asks what is made of the moves in the changelog.
func ofMigrations[Q, T any, P interface {
	*Q
	Parameters() param.List
}](ask func(answer.View, Q) (T, error)) func(*site.Site, *http.Request) (T, error) {
	return func(s *site.Site, r *http.Request) (a T, err error) {
		v, err := s.LoadedAt(r)
		if err != nil {
			return a, err
		}
		q, err := param.Read[Q, P](r.URL.Query())
		if err != nil {
			return a, err
		}
		v.Eras = s.Eras(v)
		return ask(v, q)
	}
}

// inFlight lists the migrations under way, the oldest first.
func inFlight(s *site.Site, r *http.Request) (a api.List[api.InFlight], err error) {
	q := r.URL.Query()
	v := s.ViewFor(r)
	if !v.Table.Loaded {
		return a, v.Table.NotLoaded()
	}
	return logbook.InFlight(v, topology.Namespace(q.Get("ns")), q.Get("shard"))
}
