package activity

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// EventsJSON lists the changelog, newest first.
func EventsJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	q, err := answer.ParseEventsQuery(r.URL.Query())
	if err != nil {
		return err
	}
	out, err := answer.Events(v, q)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// MigrationsJSON lists moves, newest first.
func MigrationsJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return ofMigrations(s, w, r, answer.Migrations)
}

// FailuresJSON groups moves that failed by reason, the most frequent first.
func FailuresJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return ofMigrations(s, w, r, answer.MigrationFailures)
}

func ofMigrations[T any](s *site.Site, w http.ResponseWriter, r *http.Request,
	ask func(answer.View, answer.MigrationsQuery) (T, error)) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	q, err := answer.ParseMigrationsQuery(r.URL.Query())
	if err != nil {
		return err
	}
	v.Eras = s.Eras(v)
	out, err := ask(v, q)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// InFlightJSON lists the migrations under way, the oldest first.
func InFlightJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	out, err := answer.InFlight(s.ViewFor(r), topology.Namespace(q.Get("ns")), q.Get("shard"))
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, out)
}
