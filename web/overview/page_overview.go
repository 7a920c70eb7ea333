package overview

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/web/site"
)

// pageOverview answers "is it balanced, what is wrong?".
func PageOverview(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	if v.Internal, err = answer.InternalOf(r.URL.Query()); err != nil {
		return err
	}
	sh := s.Shell(r, v, "overview", "Overview", "overview")
	return site.WritePage(w, r, http.StatusOK, OverviewPage(sh, OverviewView(v), s.Offers(r, v.Table).Balancer()))
}
