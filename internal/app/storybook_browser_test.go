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
	handler := storybook.Handler()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	var pages []screenPage
	seen := markupSeen{}
	names := append(storybook.Names(), storybook.Components()...)
	for _, name := range names {
		path := storybook.Prefix + "/" + name + "?theme=light"
		if !seen.isNew(t, pageOf(t, handler, path)) {
			continue
		}
		p := screenPage{server.URL + path, 1280}
		pages = append(pages, p)
		// No other test opens these on a phone.
		if subject, _, _ := strings.Cut(name, "-"); slices.Contains([]string{"login", "first", "error", "missing"}, subject) {
			p.width = 390
			pages = append(pages, p)
		}
	}
	t.Logf("%d scenes; %d pages have something that the others have not", len(names), len(pages))
	checkPages(t, pages)
}
