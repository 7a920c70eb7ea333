package fleet_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

func TestAPageOfAClusterAtTheRootLeadsToTheListOfClusters(t *testing.T) {
	s := webtest.New(t, webtest.OfServer(webtest.Clusters()))
	for _, path := range []string{"/projects", "/projects?page=2", "/collections/app.c", "/advice", "/heat", "/runs/17"} {
		w := s.Do("GET", path)
		if w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), "/?to=%2F") {
			t.Errorf("%s: %d to %s", path, w.Code, w.Header().Get("Location"))
			continue
		}
		doc := s.Page(t, w.Header().Get("Location"))
		expect.That(t, doc.Find(`main .note code`).Text() == path && doc.Find(`main a[href="/c/prod`+path+`"]`).Length() == 1,
			"%s: the list does not lead there", path)
		live := doc.Find("#live-clusters").AttrOr("data-live-url", "")
		expect.That(t, strings.HasPrefix(live, "/?to="), "%s: news of the list lose it: %s", path, live)
	}
	for _, to := range []string{"//evil.example/projects", "https://evil.example/projects", "/nothing/here", "projects", "/settings",
		"/projects\\x", "%zz"} {
		doc := s.Page(t, "/?to="+strings.ReplaceAll(to, "%", "%25"))
		expect.That(t, doc.Find("main .note code").Length() == 0 && doc.Find(`main a[href="/c/prod/"]`).Length() == 1, "%s was taken", to)
	}
	for path, status := range map[string]int{"/nothing": 404, "/api/v1/projects": 404, "/projects/a/b/c/d": 404} {
		expect.Equal(t, s.Do("GET", path).Code, status, "%s", path)
	}
}

func TestPlaybooksAreAtTheRootToo(t *testing.T) {
	s := webtest.New(t, webtest.OfServer(webtest.Clusters()))
	index := s.Page(t, "/help")
	first := index.Find(".playbooks h2 a").AttrOr("href", "")
	must.That(t, strings.HasPrefix(first, "/help/") && index.Find(`nav.side a[href="/"]`).Length() == 1,
		"the list of playbooks: %q", first)
	page := s.Page(t, first)
	text := page.Find("main").Text()
	if strings.Contains(text, "Changes are turned off") || !strings.Contains(text, "lead to the list of clusters first") {
		t.Error(text)
	}
	links := 0
	page.Find("article a").Each(func(_ int, a *goquery.Selection) {
		links++
		w := s.Do("GET", a.AttrOr("href", ""))
		expect.That(t, w.Code == http.StatusOK || w.Code == http.StatusSeeOther, "%s: %d", a.AttrOr("href", ""), w.Code)
	})
	expect.That(t, links != 0, "no links")
}
