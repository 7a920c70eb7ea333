package storybook_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"shardboard/web"
	"shardboard/web/storybook"
	"shardboard/web/webtest"
)

// drawnOnPages are the components that have no page of their own in the storybook, because they are large parts
// of pages: a scene of such a page, and what of the component is there.
var drawnOnPages = map[string]struct{ scene, selector string }{
	"Layout":           {"overview", "header #status"},
	"Bare":             {"login", "body.bare"},
	"Error":            {"missing", ".failure h1"},
	"ClusterMap":       {"map", "#cluster-map"},
	"MapCanvas":        {"map", "[data-map=canvas]"},
	"MapTable":         {"map", "details.maptable"},
	"EventList":        {"activity", "ol.events"},
	"InFlightSection":  {"activity-moving", "#inflight"},
	"InFlightList":     {"activity-moving", "ul.flights"},
	"FailedMovesTable": {"activity-reasons", "table a[href*='/collections/']"},
	"SurveyStart":      {"surveys-partial", "form[action='/surveys']"},
	"FoldedFilter":     {"activity", "details.phone-fold"},
	"MatrixGroupName":  {"matrix-100-shards", "thead .hidden"},
	"MatrixCell":       {"matrix-collections", "td[title] a"},
	"MatrixListed":     {"matrix-row-shards", "ul.byshard"},
	"MatrixMarks":      {"matrix-moving", "small.ghost"},
	"MatrixName":       {"matrix-collections", "th .db"},
	"MatrixNumber":     {"matrix-collections", "td a"},
	"MatrixZones":      {"matrix-zones", ".zones a.zone"},
	"WatchLink":        {"project", "a.watch"},
	"WatchList":        {"watch-partial", "#watching"},
	"WatchPage":        {"watch-partial", "main h1"},
}

// notDrawn are components without a picture of their own, with the reason.
var notDrawn = map[string]string{
	"Kept":     "hidden fields of a form",
	"TimeLine": "needs a recorded past, which scenes do not have; web/activity tests it",
}

func TestEveryComponentHasAScene(t *testing.T) {
	var sources strings.Builder
	for _, pattern := range []string{"*.go", "*.templ"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f, "_test.go") && !strings.HasSuffix(f, "_templ.go") {
				sources.Write(webtest.Must(os.ReadFile(f)))
			}
		}
	}
	files, err := filepath.Glob("../templates/*.templ")
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	exported := regexp.MustCompile(`(?m)^templ ([A-Z]\w*)\(`)
	for _, f := range files {
		for _, m := range exported.FindAllStringSubmatch(string(webtest.Must(os.ReadFile(f))), -1) {
			name := m[1]
			if strings.Contains(sources.String(), "templates."+name+"(") || notDrawn[name] != "" {
				continue
			}
			page, listed := drawnOnPages[name]
			if !listed {
				t.Errorf("no scene shows the component %s of %s", name, filepath.Base(f))
				continue
			}
			if webtest.ParseHTML(t, book.get(t, "/storybook/"+page.scene, "").Body.String()).Find(page.selector).Length() == 0 {
				t.Errorf("the scene %s has no %s of the component %s", page.scene, page.selector, name)
			}
		}
	}
}

// withoutStates are pages that do not show the cluster, or lead to others, with the reason.
var withoutStates = map[string]string{
	"/history/step":        "leads to another page",
	"/advice/{id}/plan":    "leads to a form",
	"/login":               "before sign-in; its scenes are those of a sign-in",
	"/login/first":         "before sign-in",
	"/login/oidc/callback": "leads to the page that somebody came for",
	"/help":                "text of the program, the same in each state",
	"/help/{playbook}":     "the same",
	"/runbooks":            "the same",
	"/runbooks/{runbook}":  "the same",
	"/settings":            "of a person",
	"/settings/users":      "of people",
}

func TestEveryPageHasEachState(t *testing.T) {
	mux := chi.NewMux()
	for _, pattern := range web.Pages() {
		mux.Get(pattern, func(http.ResponseWriter, *http.Request) {})
	}
	have := map[string][]string{}
	for _, sc := range storybook.StateScenes() {
		path, _, _ := strings.Cut(sc.Path, "?")
		match := chi.NewRouteContext()
		if !mux.Match(match, "GET", path) {
			t.Errorf("%s opens %s, which is no page", sc.Name, sc.Path)
			continue
		}
		_, state, _ := strings.Cut(sc.Name, "-")
		have[match.RoutePattern()] = append(have[match.RoutePattern()], state)
	}
	states := []string{"empty", "loading", "never", "norights", "stale", "partial", "denied", "failed", "hundred", "longnames", "hostile"}
	for _, pattern := range web.Pages() {
		for _, state := range states {
			if withoutStates[pattern] == "" && !slices.Contains(have[pattern], state) {
				t.Errorf("no scene shows %s while it is %s", pattern, state)
			}
		}
	}
}

// Where the cluster has the thing that a page shows, its scenes show the page and no error.
func TestScenesOfStatesShowTheirPages(t *testing.T) {
	for _, sc := range storybook.StateScenes() {
		subject, state, _ := strings.Cut(sc.Name, "-")
		if slices.Contains([]string{"partial", "hundred", "longnames", "hostile"}, state) && subject != "compare" {
			if w := book.get(t, "/storybook/"+sc.Name, ""); w.Code != http.StatusOK {
				t.Errorf("%s: status %d", sc.Name, w.Code)
			}
		}
	}
}
