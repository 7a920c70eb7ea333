package collections

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/web/site"
)

// LayoutPage compares the matched databases with the layouts of the profile;
// ?layout= chooses another one than the nearest, ?db= one database.
func LayoutPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, p := s.ViewFor(r), s.Deps.Profile
	q, err := answer.LayoutQueryOf(p, r.URL.Query())
	if err != nil {
		return err
	}
	m, err := LayoutView(v, p, q)
	if err != nil {
		return err
	}
	m.LiveURL = r.URL.RequestURI()
	sh := s.Shell(r, v, "projects", "Layout", "collections")
	return site.WritePage(w, r, http.StatusOK, layoutPage(sh, m))
}
