package web_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/web/storybook"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

func TestEveryPageInEveryStateIsWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for every page")
	}
	missing := regexp.MustCompile(`\[[a-z]+\.[a-zA-Z._-]+\]|%!|\{[a-z]+\}`)
	for _, sc := range storybook.Scenes() {
		t.Run(sc.Name, func(t *testing.T) {
			html := sc.Open(t)
			most := webtest.LargestPage
			if t := sc.View.Table; t != nil && len(t.Shards) > templates.ManyShards {
				most = largestOfMany
			}
			if len(html) > most {
				t.Errorf("%d bytes, at most %d", len(html), most)
			}
			doc := webtest.ParseHTML(t, html)
			if n := doc.Find("h1").Length(); n < 1 {
				t.Error("no heading")
			}
			for _, sel := range []string{"main#main", "header", "nav[aria-label]", "a.skip[href='#main']",
				"[role=status][aria-live=polite]", "#status .words"} {
				if doc.Find(sel).Length() == 0 {
					t.Errorf("no %s", sel)
				}
			}
			doc.Find("code").Remove()
			if m := missing.FindString(doc.Text()); m != "" {
				t.Errorf("a sentence is missing or unfilled: %s", m)
			}
			if strings.Contains(doc.Text(), "NaN") {
				t.Error("NaN is shown")
			}
		})
	}
}

// largestOfMany is the largest size of a page of a hundred shards in bytes.
const largestOfMany = 120 << 10

func TestLargestPagesStaySmall(t *testing.T) {
	many := webtest.NewStory()
	many.Chunks, many.Projects = 5000, 400
	wide := webtest.NewStory()
	wide.Shards, wide.Chunks = 12, 5000
	for name, sc := range map[string]webtest.Scene{
		"60 projects on 3 shards":  {Path: "/projects", View: webtest.NewStory().View()},
		"400 projects":             {Path: "/projects?page=2", View: many.View()},
		"5,000 chunks":             {Path: "/collections/yorkie-meta.changes", View: many.View()},
		"5,000 chunks, 12 shards":  {Path: "/collections/yorkie-meta.changes?page=3", View: wide.View()},
		"shard with 400 projects":  {Path: "/shards/shard-rs-1", View: many.View()},
		"activity":                 {Path: "/activity?kind=all", View: many.View()},
		"12 shards by collections": {Path: "/collections", View: wide.View()},
		"map of 12 shards":         {Path: "/map", View: wide.View()},
	} {
		if n := len(sc.Open(t)); n > webtest.LargestPage {
			t.Errorf("%s: %d bytes, at most %d", name, n, webtest.LargestPage)
		}
	}
}

func TestPagesOfAHundredShardsStaySmall(t *testing.T) {
	wide := webtest.NewStory()
	wide.Shards, wide.Chunks = 100, 1000
	for path, most := range map[string]int{
		"/": 120, "/matrix?by=projects": 120, "/matrix?by=projects&columns=each": 450,
		"/map": 120, "/projects": 120, "/collections": 120, "/matrix": 120, "/activity": 120, "/zones": 120,
		"/heat": 120, "/advice": 120, "/shards/shard-rs-2": 120, "/shards/shard-rs-2/why": 120, "/locate": 120, "/settings": 120,
		"/collections/yorkie-meta.changes":               150, // a lane for each shard
		"/?shards=all":                                   270, // asked for
		"/projects/" + wide.View().Dir.All()[0].ID.Hex(): 120,
	} {
		if n := len(webtest.Scene{Path: path, View: wide.View()}.Open(t)); n > most<<10 {
			t.Errorf("%s: %d bytes, at most %d", path, n, most<<10)
		}
	}
}

func TestOverviewOfAHundredShardsListsTheFullestAndLeadsToAll(t *testing.T) {
	wide := webtest.NewStory()
	wide.Shards, wide.Chunks = 100, 1000
	rows := func(path string) *goquery.Selection {
		return webtest.ParseHTML(t, webtest.Scene{Path: path, View: wide.View()}.Open(t)).Find("table.shards tbody tr")
	}
	some, all := rows("/"), rows("/?shards=all")
	if some.Length() != 12 || all.Length() != 100 {
		t.Fatalf("%d and %d shards are listed", some.Length(), all.Length())
	}
	largest := func(shares *goquery.Selection) (out float64) {
		shares.Each(func(_ int, row *goquery.Selection) {
			var width float64
			_, _ = fmt.Sscanf(row.Find("td[data-label=Data] rect").AttrOr("width", ""), "%f", &width)
			out = max(out, width)
		})
		return out
	}
	if got := largest(some); got != 100 {
		t.Errorf("the fullest shard is not listed: the longest bar is %v %%", got)
	}
	doc := webtest.ParseHTML(t, webtest.Scene{Path: "/", View: wide.View()}.Open(t))
	if link := doc.Find(`main a[href="/?shards=all#shards"]`); link.Length() != 1 {
		t.Errorf("%d links to all shards", link.Length())
	}
	live := webtest.ParseHTML(t, webtest.Scene{Path: "/?shards=all", View: wide.View()}.Open(t)).Find("#live-overview")
	if live.AttrOr("data-live-url", "") != "/?shards=all" {
		t.Errorf("the long list is updated from %q", live.AttrOr("data-live-url", ""))
	}
}

func TestFragmentIsTheRegionOfItsPage(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.New(t)
	id := v.Dir.All()[0].ID.Hex()
	for topic, path := range map[string]string{
		"overview": "/", "headline": "/", "map": "/map", "maptable": "/map",
		"collections": "/collections", "projects": "/projects", "zones": "/zones", "activity": "/activity",
		"matrix:collections-bytes": "/matrix", "matrix:projects-writes": "/matrix?by=projects&measure=writes",
		"project:" + id: "/projects/" + id, "shard:shard-rs-2": "/shards/shard-rs-2",
	} {
		render, ok := s.Fragment(topic)
		if !ok || render == nil {
			t.Fatalf("no fragment for %s", topic)
		}
		var out strings.Builder
		if err := render(t.Context(), &out, v); err != nil {
			t.Fatal(err)
		}
		fragment := webtest.ParseHTML(t, out.String()).Find("body > *")
		page := webtest.ParseHTML(t, webtest.Scene{Path: path, View: v}.Open(t))
		region := page.Find(`[data-live="` + topic + `"]`)
		if fragment.Length() != 1 || region.Length() != 1 || fragment.AttrOr("id", "") != region.AttrOr("id", "-") {
			t.Fatalf("%s: %d fragments, %d regions", topic, fragment.Length(), region.Length())
		}
		fragment.Find("time").Remove()
		region.Find("time").Remove()
		a, _ := fragment.Html()
		b, _ := region.Html()
		if a != b {
			t.Errorf("%s: fragment and page differ", topic)
		}
		if !strings.Contains(page.Find("body").AttrOr("data-topics", ""), strings.ReplaceAll(topic, "@", "%40")) {
			t.Errorf("%s: the page does not ask for its topic", path)
		}
	}
}

func TestFilteredViewsReadTheirOwnAddressAgain(t *testing.T) {
	v := webtest.NewStory().View()
	for path, live := range map[string]bool{"/projects": false, "/projects?q=wiki": true, "/projects?page=2": true,
		"/activity?kind=move": true, "/activity": false, "/matrix": false, "/matrix?by=projects": false, "/matrix?sort=name": true,
		"/collections/yorkie-meta.changes": true} {
		got, has := webtest.ParseHTML(t, webtest.Scene{Path: path, View: v}.Open(t)).Find("[data-live]").Attr("data-live-url")
		if has != live || (has && got != path) {
			t.Errorf("%s: data-live-url %q", path, got)
		}
	}
}

func TestUnknownTopicsAreRefused(t *testing.T) {
	s := webtest.New(t)
	for _, topic := range []string{"", "nothing", "overview:x", "matrix", "matrix:x", "project:zzz", "shard:", "collection:"} {
		if _, ok := s.Fragment(topic); ok {
			t.Errorf("%q is taken for a topic", topic)
		}
	}
	if render, ok := s.Fragment("collection:a.b"); !ok || render != nil {
		t.Error("a collection's browsers are told the version only")
	}
}

func TestLinksOfPagesLeadToPages(t *testing.T) {
	v := webtest.NewStory().With(webtest.Troubled).View()
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	seen := map[string]bool{}
	queue := []string{"/"}
	for len(queue) > 0 && len(seen) < 150 {
		path := queue[0]
		queue = queue[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		w := s.Do("GET", path)
		if w.Code != http.StatusOK && !strings.HasPrefix(path, "/locate?") {
			t.Errorf("%s: %d", path, w.Code)
		}
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		webtest.ParseHTML(t, w.Body.String()).Find("a[href]").Each(func(_ int, a *goquery.Selection) {
			href, _, _ := strings.Cut(a.AttrOr("href", ""), "#")
			if strings.HasPrefix(href, "?") {
				base, _, _ := strings.Cut(path, "?")
				href = base + href
			}
			if strings.HasPrefix(href, "/") {
				queue = append(queue, href)
			}
		})
	}
	if len(seen) < 60 {
		t.Errorf("only %d pages found", len(seen))
	}
}

func TestEveryStateHasItsWords(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for every page")
	}
	want := map[string][]string{
		"overview-loading": {
			"Reading the cluster",
			"Listed after the first read of the cluster",
		}, "overview-denied": {"Grant the cluster user find on config.sizes", "not permitted"},
		"overview-lost": {"Cluster not answering, data 7 min old", "The cluster does not answer."}, "collection-lost": {"Cluster not answering"},
		"projects-denied": {
			"Grant the cluster user find on yorkie-meta.projects",
		}, "projects-loading": {"not read yet"}, "projects-none": {"Projects searched:"},
		"zones-denied": {"Grant the cluster user find on config.zones"}, "zones-none": {"There are no zones"}, "zones-loading": {"not read yet"},
		"activity-denied": {
			"Grant the cluster user find on config.events",
		}, "activity-loading": {"not read yet"}, "activity-failed": {"last read at"},
		"layout": {
			"yorkie-meta is sharded like yorkie-head",
		}, "layout-drift": {"Compared with yorkie-0.4, as chosen"}, "layout-loading": {"not read yet"},
		"layout-none": {"No database holds projects"},
		"collections-denied": {
			"Grant the cluster user find on config.collections",
		}, "shard-denied": {"affected is not known"}, "missing": {"There is no shard", "shard-rs-3"},
	}
	for _, sc := range storybook.Scenes() {
		if want[sc.Name] == nil {
			continue
		}
		text := webtest.ParseHTML(t, sc.Open(t)).Find("body").Text()
		for _, w := range want[sc.Name] {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not say %q", sc.Name, w)
			}
		}
		delete(want, sc.Name)
	}
	for name := range want {
		t.Errorf("no scene %s", name)
	}
}
