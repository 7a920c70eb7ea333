package web_test

import (
	"net/http"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

// A time that is chosen on one page leads to the same time on the others that have one, and nowhere else. Links that
// choose a time of their own, and those to the newest, are left alone.
func TestLinksKeepTheChosenTime(t *testing.T) {
	s := webtest.New(t, webtest.WithHistory(t))
	timed := []string{"/activity", "/heat", "/advice/past", "/postmortem"}
	for _, path := range timed {
		w := s.Do("GET", path+"?last=1d")
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d", path, w.Code)
		}
		doc := webtest.ParseHTML(t, w.Body.String())
		for _, to := range timed {
			want := to + "?last=1d"
			if to == path || doc.Find("nav a[href^='"+to+"'], #menu a[href^='"+to+"']").Length() == 0 {
				continue
			}
			if doc.Find("a[href='"+want+"']").Length() == 0 {
				t.Errorf("%s does not lead to %s", path, want)
			}
		}
		if n := doc.Find("a[href^='/zones?last'], a[href*='from='][href*='last='], a[href*='to='][href*='last=1d&']").Length(); n > 0 {
			t.Errorf("%s: %d links have a time that is not theirs", path, n)
		}
	}
	newest := webtest.ParseHTML(t, s.Do("GET", "/activity?last=1d").Body.String()).Find(".presets a").First().AttrOr("href", "")
	expect.Lacks(t, newest, "last=", "the address of the newest entries")
	for _, path := range append(timed, "/api/v1/activity") {
		if w := s.Do("GET", path+"?last=3d"); w.Code != http.StatusBadRequest && w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
