package app

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"shardboard/web/storybook"
)

func TestBrowserFindsNoAccessibilityViolationInTheStorybook(t *testing.T) {
	chromiumPath(t) // skips where no browser is asked for
	server := httptest.NewServer(storybook.Handler())
	t.Cleanup(server.Close)
	var pages []screenPage
	for _, name := range append(storybook.Components(), storybook.Names()...) {
		p := screenPage{server.URL + storybook.Prefix + "/" + name + "?theme=light", 1280}
		pages = append(pages, p)
		// No other test opens these on a phone.
		if subject, _, _ := strings.Cut(name, "-"); slices.Contains([]string{"login", "first", "error", "missing"}, subject) {
			p.width = 390
			pages = append(pages, p)
		}
	}
	checkPages(t, pages)
}
