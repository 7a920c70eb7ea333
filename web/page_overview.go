package web

import (
	"net/http"

	"shardboard/web/templates"
	"shardboard/web/words"
)

// pageOverview answers "is it balanced, what is wrong?".
func (s *Site) pageOverview(w http.ResponseWriter, r *http.Request) error {
	v, err := s.viewAt(r)
	if err != nil {
		return err
	}
	if v.Internal, err = internalOf(r.URL.Query()); err != nil {
		return err
	}
	sh := s.shell(r, v, "overview", words.T("nav.overview"), "overview")
	return writePage(w, r, http.StatusOK, templates.OverviewPage(sh, overviewView(v), s.offers(r, v.Table).balancer()))
}
