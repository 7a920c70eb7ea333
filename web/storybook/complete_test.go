package storybook_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/fixture/expect"
	"shardboard/web"
	"shardboard/web/storybook"
)

// withoutStates are pages that do not show the cluster, or lead to others, with the reason.
var withoutStates = map[string]string{
	"/history/step": "leads to another page", "/advice/{id}/plan": "leads to a form",
	"/login": "before sign-in; its scenes are those of a sign-in", "/login/first": "before sign-in",
	"/login/oidc/callback": "leads to the page that somebody came for",
	"/help":                "text of the program, the same in each state", "/help/{playbook}": "the same",
	"/help/websockets": "the same", "/runbooks": "the same",
	"/runbooks/{runbook}": "the same", "/settings": "of a person", "/settings/users": "of people",
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
			expect.That(t, withoutStates[pattern] != "" || slices.Contains(have[pattern], state),
				"no scene shows %s while it is %s", pattern, state)
		}
	}
}
