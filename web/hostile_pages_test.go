package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/static"
	"shardboard/web/storybook"
	"shardboard/web/webtest"
)

func TestPagesHoldNothingThatTheirPolicyForbids(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for every page")
	}
	for _, sc := range storybook.Scenes() {
		doc := webtest.ParseHTML(t, sc.Open(t))
		doc.Find("*").Each(func(_ int, s *goquery.Selection) {
			for _, a := range s.Nodes[0].Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s: <%s %s>", sc.Name, goquery.NodeName(s), a.Key)
				}
				if (a.Key == "src" || a.Key == "href" || a.Key == "action") && strings.Contains(a.Val, "//") {
					t.Errorf("%s: %s leaves the site", sc.Name, a.Val)
				}
			}
		})
		doc.Find("script").Each(func(_ int, s *goquery.Selection) {
			src := s.AttrOr("src", "")
			if _, ok := static.Open(src); !ok || strings.TrimSpace(s.Text()) != "" {
				t.Errorf("%s: script %q", sc.Name, src)
			}
		})
		if n := doc.Find("style").Length(); n > 0 {
			t.Errorf("%s: %d style elements", sc.Name, n)
		}
	}
}

func TestHostileNamesStayText(t *testing.T) {
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	s := webtest.NewStory().With(func(t *topology.Table) {
		t.Shards[2].Name, t.Shards[2].Zones, t.Shards[2].Hosts = "z"+evil, []string{evil}, []string{evil}
		t.Databases[0].Primary = "z" + evil
		for i := range t.Events {
			t.Events[i].What, t.Events[i].NS = evil, evil
		}
		t.Balancer.WindowStart, t.Balancer.WindowStop = evil, evil
		t.Routers[0].Host, t.Routers[0].Ping = evil, webtest.Epoch.Add(-time.Hour)
		t.ServerInfo.Version = evil
	})
	v := s.View()
	all := v.Dir.All()
	for i := range all {
		all[i].Name, all[i].PublicKey = evil, evil
	}
	v.Dir = placement.NewDirectory(3, []string{"yorkie-meta"}, all, topology.Health{At: webtest.Epoch})
	item := webtest.FoundDocument(v)[0]
	item.Name, item.DB = evil, evil
	for _, path := range []string{"/", "/collections", "/collections/yorkie-meta.changes", "/projects",
		"/projects/" + all[0].ID.Hex(), "/shards/shard-rs-1", webtest.ChunkPath(v, "yorkie-meta.changes", 0),
		"/zones", "/map", "/map?ns=yorkie-meta.changes", "/layout", "/activity?kind=all",
		"/activity?kind=all&last=7d", "/locate?q=%3Cscript%3E",
		"/projects?q=" + "%3Cscript%3E", "/nowhere/%3Cscript%3E"} {
		html := webtest.Scene{Path: path, View: v, Found: []placement.Item{item}}.Open(t)
		doc := webtest.ParseHTML(t, html)
		if n := doc.Find("script:not([src])").Length() + doc.Find("img").Length() + doc.Find("[onerror]").Length(); n > 0 {
			t.Errorf("%s: %d hostile elements", path, n)
		}
	}
}

func TestBadInputIsAClearRefusal(t *testing.T) {
	for path, want := range map[string]int{
		"/projects/zzz": http.StatusBadRequest, "/projects/" + strings.Repeat("0", 24): http.StatusNotFound,
		"/projects?page=0":                         http.StatusBadRequest,
		"/projects?q=" + strings.Repeat("x", 5000): http.StatusBadRequest, "/projects?q=%00": http.StatusBadRequest,
		"/projects?q=%ff":    http.StatusBadRequest,
		"/activity?from=odd": http.StatusBadRequest, "/activity?to=%00": http.StatusBadRequest,
		"/activity?last=2y":           http.StatusBadRequest,
		"/activity?last=%3Cscript%3E": http.StatusBadRequest, "/activity?from=99999999999999999999": http.StatusBadRequest,
		"/activity?last=1h&from=2026-01-01T00:00":             http.StatusBadRequest,
		"/activity?from=2026-01-02T00:00&to=2026-01-01T00:00": http.StatusBadRequest,
		"/activity?from=2999-01-01T00:00":                     http.StatusOK,
		"/activity?from=0001-01-01T00:00":                     http.StatusBadRequest,
		"/activity?kind=odd":                                  http.StatusBadRequest,
		"/collections/yorkie-meta.changes?pos=2":              http.StatusBadRequest,
		"/collections/yorkie-meta.changes?pos=NaN":            http.StatusBadRequest,
		"/collections/no.such":                                http.StatusNotFound, "/shards/no-such": http.StatusNotFound,
		"/locate?q=nobody":   http.StatusNotFound,
		"/projects?q=$where": http.StatusOK, "/layout?layout=nope": http.StatusBadRequest, "/layout?layout=%00": http.StatusBadRequest,
		"/layout?db=nope":                          http.StatusNotFound,
		"/layout?db=yorkie-meta&layout=yorkie-0.4": http.StatusOK,
	} {
		s := webtest.New(t)
		v := webtest.NewStory().View()
		s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
		w := s.Do("GET", path)
		if w.Code != want {
			t.Errorf("%.60s: %d, want %d", path, w.Code, want)
		}
		if doc := webtest.ParseHTML(t, w.Body.String()); doc.Find("main h1").Length() == 0 {
			t.Errorf("%.60s: no page", path)
		}
	}
}
