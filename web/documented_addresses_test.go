package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/profile"
	"shardboard/web"
	"shardboard/web/fleet"
	"shardboard/web/site"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

// notAddresses are beginnings of paths in the documentation that are files, or addresses of other programs.
var notAddresses = regexp.MustCompile(`^/(etc|run|usr|var|data|keys|uri|proc|srv|tmp|dev|home|v2|api/v2|c/NAME|static)(/|$)|^/[\w.-]*\.\w+$|^//|^/\W*$`)

var addressSpan = regexp.MustCompile("`(?:GET |POST )?(/[^` ]*)`")

// An address in the documentation that no page and no answer has leads readers nowhere.
func TestAddressesInTheDocumentationExist(t *testing.T) {
	mux := chi.NewMux()
	for _, rt := range slices.Concat(web.Routes(), site.Complete(fleet.Routes)) {
		mux.MethodFunc(rt.Method, rt.Pattern, func(http.ResponseWriter, *http.Request) {})
	}
	exists := func(path string) bool {
		return mux.Match(chi.NewRouteContext(), "GET", path) || mux.Match(chi.NewRouteContext(), "POST", path)
	}
	n := 0
	for _, pattern := range []string{"../README.md", "../docs/*.md", "../docs/playbooks/*.md", "../docs/runbooks/*.md"} {
		pages, err := filepath.Glob(pattern)
		must.That(t, err == nil && len(pages) != 0, "%v %v", pattern, err)
		for _, page := range pages {
			text := must.Get(os.ReadFile(page))
			for _, m := range addressSpan.FindAllStringSubmatch(string(text), -1) {
				path, _, _ := strings.Cut(m[1], "?")
				path, _, _ = strings.Cut(path, "#")
				if notAddresses.MatchString(path) || strings.HasSuffix(path, "/") && path != "/" ||
					strings.HasSuffix(path, "…") {
					continue // a file, or the beginning of addresses
				}
				n++
				path = regexp.MustCompile(`^/c/[^/]+`).ReplaceAllString(path, "")
				if path != "" && !exists(path) {
					t.Errorf("%s names %s, which is no address", strings.TrimPrefix(page, "../"), m[1])
				}
			}
		}
	}
	expect.That(t, n >= 200, "only %d addresses", n)
}

// A page that docs/pages.md does not explain, or one that it explains and that is gone, is found here.
func TestTheDocumentOfThePagesHasEveryPage(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/pages.md"))
	var described []string
	for _, line := range regexp.MustCompile(`(?m)^- \*\*[^*]+\*\* ([^:]+): (.+)`).FindAllStringSubmatch(string(text), -1) {
		for _, m := range regexp.MustCompile("`(/[^`]*)`").FindAllStringSubmatch(line[1], -1) {
			described = append(described, m[1])
		}
	}
	pages := web.Pages()
	for _, p := range pages {
		expect.That(t, slices.Contains(described, p), "docs/pages.md does not describe %s", p)
	}
	for _, p := range described {
		expect.That(t, slices.Contains(pages, p), "docs/pages.md describes %s, which is no page", p)
	}
}

// The document leads through the pages as the navigation does.
func TestTheDocumentOfThePagesFollowsTheNavigation(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/pages.md"))
	at := 0
	for _, e := range templates.NavOf(templates.You{MayLocate: true, MayOperate: true, MayAdmin: true}, true, true) {
		next := strings.Index(string(text), "\n## "+e.Name+"\n")
		if next < at {
			t.Errorf("## %s is missing or not in the order of the navigation", e.Name)
			continue
		}
		at = next
		section, _, _ := strings.Cut(string(text[at+1:]), "\n## ")
		for _, p := range e.Pages {
			expect.Contains(t, section, "** `"+p.URL+"`:", "%s does not stand below ## %s", p.URL, e.Name)
		}
	}
	expect.That(t, at != 0, "the navigation is empty")
}

// earlierAddresses are the lines of the fixture: what is asked for, and its address.
func earlierAddresses(t *testing.T) (out [][2]string) {
	t.Helper()
	text := must.Get(os.ReadFile("testdata/earlier_addresses.txt"))
	for line := range strings.Lines(string(text)) {
		if media, address, ok := strings.Cut(strings.TrimSpace(line), " "); ok && media != "#" {
			out = append(out, [2]string{media, address})
		}
	}
	must.That(t, len(out) >= 200, "only %d addresses", len(out))
	return out
}

// Bookmarks and scripts have the addresses of earlier versions. Each answers as it did, or leads to what does.
func TestEarlierAddressesLeadToTheSameKindOfAnswer(t *testing.T) {
	s := webtest.New(t, webtest.WithHistory(t))
	// Without what they need these had no other answer: a parameter, or a run of the sign-in.
	refused := map[string]int{"/history/step": http.StatusBadRequest, "/api/v1/locate": http.StatusNotFound,
		"/api/v1/history/step": http.StatusBadRequest}
	for _, line := range earlierAddresses(t) {
		media, address := line[0], withSmallModel(webtest.AddressOf(line[1]))
		if media == "live" {
			continue
		}
		var w *httptest.ResponseRecorder
		for range 4 {
			if w = s.Do("GET", address, webtest.Header("Accept", media)); w.Code/100 != 3 {
				break
			}
			address = strings.TrimPrefix(w.Header().Get("Location"), "http://localhost:8090")
		}
		want := http.StatusOK
		if code, ok := refused[line[1]]; ok {
			want = code
		}
		if got := w.Header().Get("Content-Type"); w.Code != want || want == http.StatusOK && !strings.HasPrefix(got, media) {
			t.Errorf("%s %s: %d %s at %s: %.200s", media, line[1], w.Code, got, address, w.Body)
		}
	}
}

// Pages that were open before an upgrade ask for the topics that they know.
func TestEarlierLiveTopicsAreServed(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		for _, line := range earlierAddresses(t) {
			if line[0] != "live" {
				continue
			}
			kind, _, keyed := strings.Cut(line[1], ":")
			topic := line[1]
			if keyed {
				topic = kind + strings.TrimPrefix(webtest.AddressOf("/"+kind+"s/"+line[1][len(kind)+1:]), "/"+kind+"s")
				topic = strings.Replace(topic, "/", ":", 1)
			}
			w := l.Do("GET", "/live?poll=1&t="+topic)
			expect.That(t, w.Code == http.StatusOK && strings.Contains(w.Body.String(), `"topic":"`+topic+`"`),
				"%s: %d %.200s", topic, w.Code, w.Body)
		}
	})
}

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
			n := of.Do("GET", path).Body.Len()
			expect.That(t, n <= most<<10, "%s: %d bytes, at most %d", path, n, most<<10)
		}
	}
}

func TestOverviewOfAHundredShardsListsTheFullestAndLeadsToAll(t *testing.T) {
	s := hundredShards().Serve(t)
	page := func(path string) *goquery.Document { return s.Page(t, path) }
	some, all := page("/").Find("table.shards tbody tr"), page("/shards").Find("table.shards tbody tr")
	must.That(t, some.Length() == 12 && all.Length() == 100, "%d and %d shards are listed", some.Length(), all.Length())
	largest := func(shares *goquery.Selection) (out float64) {
		shares.Each(func(_ int, row *goquery.Selection) {
			var width float64
			_, _ = fmt.Sscanf(row.Find("td[data-label=Data] rect").AttrOr("width", ""), "%f", &width)
			out = max(out, width)
		})
		return out
	}
	got := largest(some)
	expect.That(t, got == 100, "the fullest shard is not listed: the longest bar is %v %%", got)
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
		must.That(t, ok && render != nil, "no fragment for %s", topic)
		var out strings.Builder
		must.Do(t, render(t.Context(), &out, v))
		var admins strings.Builder
		anna := auth.With(t.Context(), auth.Principal{ID: "user:a", Name: "anna", Role: auth.Admin})
		err := render(anna, &admins, v)
		expect.That(t, err == nil && admins.String() == out.String(), "%s depends on who looks: %v", topic, err)
		fragment := webtest.ParseHTML(t, out.String()).Find("body > *")
		page := webtest.ParseHTML(t, webtest.Scene{Path: path, View: v}.Open(t))
		region := page.Find(`[data-live="` + topic + `"]`)
		must.That(t, fragment.Length() == 1 && region.Length() == 1 && fragment.AttrOr("id", "") == region.AttrOr("id", "-"),
			"%s: %d fragments, %d regions", topic, fragment.Length(), region.Length())
		fragment.Find("time").Remove()
		region.Find("time").Remove()
		a, _ := fragment.Html()
		b, _ := region.Html()
		expect.Equal(t, cmp.Diff(a, b), "", "%s: fragment and page", topic)
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
		expect.That(t, has == live && (!has || got == path), "%s: data-live-url %q", path, got)
	}
}
