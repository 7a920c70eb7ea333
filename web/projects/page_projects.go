package projects

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/web/site"
)

// pageProjects lists every project with its spread; ?q= searches by name, id
// and public key, ?page= turns pages.
func PageProjects(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q, err := answer.ProjectsQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	m := ProjectsView(v, s.Deps.Profile, q)
	if q != (answer.ProjectsQuery{}) {
		m.LiveURL = r.URL.RequestURI()
	}
	sh := s.Shell(r, v, "projects", "Projects", "projects")
	return site.WritePage(w, r, http.StatusOK, ProjectsPage(sh, m))
}
