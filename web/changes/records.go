package changes

import (
	"net/http"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/web/site"
)

// planOf is the plan that an address names.
func planOf(s *site.Site, r *http.Request) (actions.Plan, error) {
	id, err := recordID(r)
	if err != nil {
		return actions.Plan{}, err
	}
	return s.Deps.Changes.Actions.PlanByID(r.Context(), id)
}

// runOf is the run that an address names.
func runOf(s *site.Site, r *http.Request) (engine.Run, error) {
	id, err := recordID(r)
	if err != nil {
		return engine.Run{}, err
	}
	return s.Deps.Changes.Actions.RunByID(r.Context(), id)
}

// recordID is the id of a plan or a run in an address.
func recordID(r *http.Request) (string, error) {
	id, err := site.PathText(r, "id")
	if err != nil {
		return "", err
	}
	if !store.IsPlanOrRunID(id) {
		return "", fault.New(fault.NotFound, "There is no plan or run with the id %q.", sanitize.Truncate(id, 60))
	}
	return id, nil
}
