package activity

import (
	"net/http"
	"net/url"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
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
	q, err := logbook.ParseEventsQuery(r.URL.Query())
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
	q, err := logbook.ParseActivityQuery(r.URL.Query())
	if err != nil {
		return a, err
	}
	return logbook.ActivityBars(r.Context(), v, s.Deps.Past.History, q)
}

// moves lists moves, newest first.
func moves(s *site.Site, r *http.Request) (api.LoggedList[api.Migration], error) {
	return ofMigrations(s, r, r.URL.Query(), logbook.Migrations)
}

// failedMoves groups moves that failed by reason, the most frequent first. It
// takes neither a state nor a page, so these are ignored like any other
// parameter that is not its own.
func failedMoves(s *site.Site, r *http.Request) (api.LoggedList[api.MigrationFailures], error) {
	in := r.URL.Query()
	in.Del("state")
	in.Del("limit")
	in.Del("cursor")
	return ofMigrations(s, r, in, logbook.MigrationFailures)
}

func ofMigrations[T any](s *site.Site, r *http.Request, in url.Values,
	ask func(answer.View, logbook.MigrationsQuery) (T, error)) (a T, err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	q, err := logbook.ParseMigrationsQuery(in)
	if err != nil {
		return a, err
	}
	v.Eras = s.Eras(v)
	return ask(v, q)
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
