package collections

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/web/site"
)

// pageCollections is the matrix of collections and shards.
func PageCollections(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	if v.Internal, err = answer.InternalOf(r.URL.Query()); err != nil {
		return err
	}
	sh := s.Shell(r, v, "collections", "Collections", "collections")
	return site.WritePage(w, r, http.StatusOK, CollectionsPage(sh, CollectionsView(v)))
}
