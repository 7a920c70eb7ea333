package activity

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/web/site"
)

// pageActivity is the changelog in words, newest first.
func PageActivity(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q, err := answer.ActivityQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	v.Eras = s.Eras(v)
	m := ActivityView(v, q)
	if q != (answer.ActivityQuery{}) {
		m.LiveURL = r.URL.RequestURI()
	}
	sh := s.Shell(r, v, "activity", "Activity", "activity")
	return site.WritePage(w, r, http.StatusOK, ActivityPage(sh, m))
}
