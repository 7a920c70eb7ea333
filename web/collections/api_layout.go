package collections

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// LayoutJSON compares every matched database, or ?db=, with its nearest layout,
// or with ?layout=.
func LayoutJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.Loaded(r)
	if err != nil {
		return err
	}
	q, err := answer.LayoutQueryOf(s.Deps.Profile, r.URL.Query())
	if err != nil {
		return err
	}
	dbs, err := q.Databases(v, s.Deps.Profile)
	if err != nil {
		return err
	}
	out := api.List[api.Layout]{Items: []api.Layout{}}
	for _, db := range dbs {
		out.Items = append(out.Items, answer.LayoutOf(s.Deps.Profile, s.Deps.Profile.DriftOf(v.Table, db, q.Layout)))
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartRouting)
	return site.WriteJSON(w, http.StatusOK, out)
}
