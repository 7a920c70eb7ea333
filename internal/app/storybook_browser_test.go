package app

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"shardboard/web/storybook"
)

// axeCheck returns what axe-core finds, as lines.
const axeCheck = `axe.run(document, %s).then(r =>
	r.violations.map(v => v.id + ": " + v.help + " — " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | ")))`

// violations are what axe-core finds on the page that is open.
func violations(ctx context.Context, source, options string) ([]string, error) {
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](source)); err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[[]string](fmt.Sprintf(axeCheck, options), chromedp.EvalAwaitPromise))
}

// Every scene is checked by every rule in the light theme. Between themes only colours differ, so the dark one is
// checked for contrast. SHARDBOARD_LONG=1 checks all scenes, "some" a part of them; both take minutes.
func TestBrowserFindsNoAccessibilityViolationInTheStorybook(t *testing.T) {
	chromiumPath(t) // skips where no browser is asked for
	long := os.Getenv("SHARDBOARD_LONG")
	if long == "" {
		t.Skip("opens hundreds of pages: with SHARDBOARD_LONG=1 or SHARDBOARD_LONG=some")
	}
	source := axeScript(t)
	server := httptest.NewServer(storybook.Handler())
	t.Cleanup(server.Close)
	names := append(storybook.Components(), storybook.Names()...)
	if long == "some" {
		names = someOf(names)
	}
	tabs := make(chan context.Context, 2)
	for range cap(tabs) {
		tabs <- newBrowser(t)
	}
	t.Run("scenes", func(t *testing.T) {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ctx := <-tabs
				defer func() { tabs <- ctx }()
				for _, theme := range []struct{ name, options string }{
					{"light", `{resultTypes: ["violations"]}`},
					{"dark", `{resultTypes: ["violations"], runOnly: ["color-contrast", "link-in-text-block"]}`},
				} {
					address := server.URL + storybook.Prefix + "/" + name + "?theme=" + theme.name
					if err := chromedp.Do(ctx, chromedp.Navigate(address), chromedp.WaitVisible("main h1")); err != nil {
						t.Fatal(err)
					}
					found, err := violations(ctx, source, theme.options)
					if err != nil || len(found) > 0 {
						t.Errorf("in %s: %v\n%s", theme.name, err, strings.Join(found, "\n"))
					}
				}
			})
		}
	})
}

// someOf keeps all components, all pages before sign-in, and one in nine of the other scenes.
func someOf(names []string) (out []string) {
	for i, name := range names {
		subject, _, _ := strings.Cut(name, "-")
		if i%9 == 0 || subject == "component" || subject == "login" || subject == "first" {
			out = append(out, name)
		}
	}
	return out
}
