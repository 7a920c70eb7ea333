package web

import (
	"net/http"

	"shardboard/web/templates"
	"shardboard/web/words"
)

// pageProjects lists every project with its spread; ?q= searches by name, id
// and public key, ?page= turns pages.
func (s *Site) pageProjects(w http.ResponseWriter, r *http.Request) error {
	q, err := projectsQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.viewAt(r)
	if err != nil {
		return err
	}
	m := projectsView(v, s.deps.Profile, q)
	if q != (projectsQuery{}) {
		m.LiveURL = r.URL.RequestURI()
	}
	sh := s.shell(r, v, "projects", words.T("nav.projects"), "projects")
	return writePage(w, r, http.StatusOK, templates.ProjectsPage(sh, m))
}
