package storybook_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/fixture/expect"
	"shardboard/web"
	"shardboard/web/storybook"
	"shardboard/web/webtest"
)

// book is the handler that the tests share: it makes hundreds of stand-ins.
var book = testBook{http: sync.OnceValue(storybook.Handler)}

type testBook struct{ http func() http.Handler }

func (b testBook) get(t *testing.T, address, referer string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("GET", address, nil)
	r.Header.Set("Referer", referer)
	w := httptest.NewRecorder()
	b.http().ServeHTTP(w, r)
	return w
}

// Pages that name something are opened with it, so addresses are matched with patterns.
func TestEveryPageHasScenes(t *testing.T) {
	mux := chi.NewMux()
	for _, pattern := range web.Pages() {
		mux.Get(pattern, func(http.ResponseWriter, *http.Request) {})
	}
	shown := map[string]int{}
	for _, sc := range storybook.All() {
		path, _, _ := strings.Cut(sc.Path, "?")
		if match := chi.NewRouteContext(); mux.Match(match, "GET", path) {
			shown[match.RoutePattern()]++
		}
	}
	for _, pattern := range web.Pages() {
		if strings.HasPrefix(withoutStates[pattern], "leads to") {
			continue
		}
		expect.That(t, shown[pattern] != 0, "no scene shows %s", pattern)
	}
}

func TestNamesOfScenesAreUnique(t *testing.T) {
	have := map[string]bool{}
	for _, name := range append(storybook.Names(), storybook.Components()...) {
		expect.That(t, !have[name], "%s is there twice", name)
		have[name] = true
	}
}

func TestIndexLeadsToEveryScene(t *testing.T) {
	doc := webtest.ParseHTML(t, book.get(t, "/storybook?theme=dark", "").Body.String())
	for _, name := range append(storybook.Names(), storybook.Components()...) {
		expect.Equal(t, doc.Find(`a[href="/storybook/`+name+`?theme=dark"]`).Length(), 1,
			"the index does not lead to %s in the same theme", name)
	}
}

func TestSceneStandsStillInItsTheme(t *testing.T) {
	for _, theme := range []string{"light", "dark"} {
		doc := webtest.ParseHTML(t, book.get(t, "/storybook/zones?theme="+theme, "").Body.String())
		expect.Equal(t, doc.Find("html").AttrOr("data-theme", ""), theme, "theme")
		_, opens := doc.Find("body").Attr("data-topics")
		expect.That(t, !opens, "the page would open a socket")
	}
}

func TestScriptsOfASceneReadItsCluster(t *testing.T) {
	type shards struct{ Items []struct{ Name string } }
	for scene, want := range map[string]int{"overview": 3, "overview-hundred": 100} {
		w := book.get(t, "/api/v1/shards?limit=1000", "http://127.0.0.1:8091/storybook/"+scene+"?theme=dark")
		got := len(webtest.Decode[shards](t, w).Items)
		expect.That(t, got == want, "%s has %d shards, want %d", scene, got, want)
	}
	expect.Equal(t, book.get(t, "/api/v1/shards", "http://127.0.0.1:8091/elsewhere").Code, http.StatusNotFound, "without a scene")
}

func TestStorybookChangesNothing(t *testing.T) {
	for _, path := range []string{"/plans", "/api/v1/plans", "/storybook/zones"} {
		w := httptest.NewRecorder()
		book.http().ServeHTTP(w, httptest.NewRequest("POST", path, nil))
		expect.That(t, w.Code == http.StatusMethodNotAllowed || w.Code == http.StatusNotFound, "POST %s: %d", path, w.Code)
	}
}
