package web

import (
	"net/http"

	"shardboard/web/templates"
	"shardboard/web/words"
)

// pageLayout compares the matched databases with the layouts of the profile;
// ?layout= chooses another one than the nearest, ?db= one database.
func (s *Site) pageLayout(w http.ResponseWriter, r *http.Request) error {
	v, p := s.viewFor(r), s.deps.Profile
	q, err := layoutQueryOf(p, r.URL.Query())
	if err != nil {
		return err
	}
	m, err := layoutView(v, p, q)
	if err != nil {
		return err
	}
	m.LiveURL = r.URL.RequestURI()
	sh := s.shell(r, v, "projects", words.T("nav.layout"), "collections")
	return writePage(w, r, http.StatusOK, templates.LayoutPage(sh, m))
}
