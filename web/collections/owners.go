package collections

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// owners asks the server, so its answer is made of more than the table.
func owners(s *site.Site, r *http.Request) (a api.Owners, err error) {
	v, ns, err := named(s, r)
	if err != nil {
		return a, err
	}
	return data.Owners(r.Context(), v, s.Deps.Locate.Owners, ns)
}

// OwnersPage shows which shards had data of a collection.
func OwnersPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	a, err := owners(s, r)
	if err != nil {
		return err
	}
	v := s.ViewFor(r)
	sh := s.Shell(r, v, "collections", a.NS+": shards until now")
	return site.WritePage(w, r, http.StatusOK, ownersPage(sh, a, templates.RefsOf(v.Table), v.Now))
}

func ownersURL(ns topology.Namespace) string { return answer.CollectionURL(ns) + "/owners" }
