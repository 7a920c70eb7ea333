package changes_test

import (
	"strings"
	"testing"

	"shardboard/internal/profile"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// Forms of changes speak of what the profile calls tenants; names of arguments stay.
func TestFormsSpeakTheWordsOfTheProfile(t *testing.T) {
	shop := *profile.Yorkie()
	shop.Tenants = profile.Called{One: "Tenant", Many: "Tenants"}
	s := webtest.New(t, func(d *site.Deps) { d.Cluster.Profile = &shop })
	for path, says := range map[string]string{"/plans/new?kind=pin": "Pin a tenant",
		"/plans/new?kind=split-project": "Split a tenant’s chunks", "/plans/new": "Spread a tenant over the shards"} {
		w := s.Do("GET", path)
		main := webtest.ParseHTML(t, w.Body.String()).Find("main")
		if text := main.Text(); !strings.Contains(text, says) || strings.Contains(text, " project") || strings.Contains(text, "Project") {
			t.Errorf("%s: status %d, says %q", path, w.Code, text)
		}
		if path == "/plans/new?kind=pin" && main.Find("[name=project]").Length() != 1 {
			t.Error("the argument has another name")
		}
	}
}
