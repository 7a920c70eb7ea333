package activity

import (
	"net/http"

	"shardboard/internal/answer"
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
	q, err := answer.ParseEventsQuery(r.URL.Query())
	if err != nil {
		return a, err
	}
	return answer.Events(v, q)
}

// moves lists moves, newest first.
func moves(s *site.Site, r *http.Request) (api.FoldedList[api.Migration], error) {
	return ofMigrations(s, r, answer.Migrations)
}

// failedMoves groups moves that failed by reason, the most frequent first.
func failedMoves(s *site.Site, r *http.Request) (api.FoldedList[api.MigrationFailures], error) {
	return ofMigrations(s, r, answer.MigrationFailures)
}

func ofMigrations[T any](s *site.Site, r *http.Request, ask func(answer.View, answer.MigrationsQuery) (T, error)) (a T, err error) {
	v, err := s.LoadedAt(r)
	if err != nil {
		return a, err
	}
	q, err := answer.ParseMigrationsQuery(r.URL.Query())
	if err != nil {
		return a, err
	}
	v.Eras = s.Eras(v)
	return ask(v, q)
}

// inFlight lists the migrations under way, the oldest first.
func inFlight(s *site.Site, r *http.Request) (a api.List[api.InFlight], err error) {
	q := r.URL.Query()
	return answer.InFlight(s.ViewFor(r), topology.Namespace(q.Get("ns")), q.Get("shard"))
}
