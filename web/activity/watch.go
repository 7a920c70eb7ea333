package activity

import (
	"net/http"

	"shardboard/web/site"
	"shardboard/web/templates"
)

// WatchPage lists what is watched and where it is now.
func WatchPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	m, err := s.Watching(r, v)
	if err != nil {
		return err
	}
	m.Page = true
	sh := s.Shell(r, v, "watch", "Watched")
	sh.Watching = templates.Watching{}
	return site.WritePage(w, r, http.StatusOK, templates.WatchPage(sh, m))
}
