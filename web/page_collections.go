package web

import (
	"net/http"

	"shardboard/web/templates"
	"shardboard/web/words"
)

// pageCollections is the matrix of collections and shards.
func (s *Site) pageCollections(w http.ResponseWriter, r *http.Request) error {
	v, err := s.viewAt(r)
	if err != nil {
		return err
	}
	if v.Internal, err = internalOf(r.URL.Query()); err != nil {
		return err
	}
	sh := s.shell(r, v, "collections", words.T("nav.collections"), "collections")
	return writePage(w, r, http.StatusOK, templates.CollectionsPage(sh, collectionsView(v)))
}
