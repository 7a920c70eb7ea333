package web

import (
	"net/http"

	"shardboard/web/templates"
	"shardboard/web/words"
)

// pageActivity is the changelog in words, newest first.
func (s *Site) pageActivity(w http.ResponseWriter, r *http.Request) error {
	q, err := activityQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.viewAt(r)
	if err != nil {
		return err
	}
	v.Eras = s.eras(v)
	m := activityView(v, q)
	if q != (activityQuery{}) {
		m.LiveURL = r.URL.RequestURI()
	}
	sh := s.shell(r, v, "activity", words.T("nav.activity"), "activity")
	return writePage(w, r, http.StatusOK, templates.ActivityPage(sh, m))
}
