package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/profile"
	"shardboard/web/webtest"
)

// hundredShards is a server of a cluster with a hundred shards.
var hundredShards = sync.OnceValue(func() webtest.Scene {
	wide := webtest.NewStory()
	wide.Shards, wide.Chunks = 100, 1000
	return webtest.Scene{View: wide.View()}
})

func TestPagesOfManyShardsAndChunksStaySmall(t *testing.T) {
	many := webtest.NewStory()
	many.Chunks, many.Projects = 5000, 400
	for of, pages := range map[*webtest.Server]map[string]int{
		hundredShards().Serve(t): {
			"/": 120, "/matrix?by=projects": 120, "/matrix?by=projects&columns=each": 450,
			"/map": 120, "/projects": 120, "/collections": 120, "/matrix": 120, "/activity": 120, "/zones": 120,
			"/heat": 120, "/advice": 120, "/shards/shard-rs-2": 120, "/shards/shard-rs-2/why": 120, "/locate": 120, "/settings": 120,
			"/collections/yorkie-meta.changes": 150, // a lane for each shard
			"/shards":                          270, // all of them
			"/projects/" + hundredShards().View.Dir.All()[0].ID.Hex(): 120,
		},
		webtest.Scene{View: many.View()}.Serve(t): {
			"/projects?page=2": 68, "/collections/yorkie-meta.changes": 68, "/shards/shard-rs-1": 68, "/activity?kind=all": 68,
		},
	} {
		for path, most := range pages {
			if n := of.Do("GET", path).Body.Len(); n > most<<10 {
				t.Errorf("%s: %d bytes, at most %d", path, n, most<<10)
			}
		}
	}
}

func TestOverviewOfAHundredShardsListsTheFullestAndLeadsToAll(t *testing.T) {
	s := hundredShards().Serve(t)
	page := func(path string) *goquery.Document { return webtest.ParseHTML(t, s.Do("GET", path).Body.String()) }
	some, all := page("/").Find("table.shards tbody tr"), page("/shards").Find("table.shards tbody tr")
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
	expect.Equal(t, page("/").Find(`#live-overview a[href="/shards"]`).Length(), 1, "links to all shards")
	if old := s.Do("GET", "/?shards=all"); old.Code != http.StatusSeeOther || old.Header().Get("Location") != "/shards" {
		t.Errorf("the old address of all shards: %d to %q", old.Code, old.Header().Get("Location"))
	}
}

func TestFragmentIsTheRegionOfItsPage(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.New(t)
	v.Counts = heat.NewCollector(nil, s.Watcher, profile.Yorkie(), heat.Options{Seed: 1}) // as a server has them
	v.HoldingsOf = webtest.CannedHoldings{}.Snapshot
	id := v.Dir.All()[0].ID.Hex()
	for topic, path := range map[string]string{
		"overview": "/", "headline": "/", "map": "/map", "maptable": "/map",
		"collections": "/collections", "projects": "/projects", "zones": "/zones", "activity": "/activity",
		"matrix:collections-bytes": "/matrix", "matrix:projects-writes": "/matrix?by=projects&measure=writes",
		"matrix:collections-reads": "/matrix?measure=reads", "matrix:projects-reads": "/matrix?by=projects&measure=reads",
		"project:" + id: "/projects/" + id, "shard:shard-rs-2": "/shards/shard-rs-2",
	} {
		render, ok := s.Fragment(topic)
		if !ok || render == nil {
			t.Fatalf("no fragment for %s", topic)
		}
		var out strings.Builder
		must.Do(t, render(t.Context(), &out, v))
		var admins strings.Builder
		anna := auth.With(t.Context(), auth.Principal{ID: "user:a", Name: "anna", Role: auth.Admin})
		if err := render(anna, &admins, v); err != nil || admins.String() != out.String() {
			t.Errorf("%s depends on who looks: %v", topic, err)
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
			t.Errorf("%s: fragment and page differ:\n%s", topic, cmp.Diff(a, b))
		}
		expect.Contains(t, page.Find("body").AttrOr("data-topics", ""), strings.ReplaceAll(topic, "@", "%40"),
			"%s: the page does not ask for its topic", path)
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
