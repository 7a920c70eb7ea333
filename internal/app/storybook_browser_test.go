package app

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
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
// checked for contrast. By default each state of the cluster is on some pages and each page in some state, so that
// the browser's tests stay within minutes; SHARDBOARD_LONG=1 checks all.
func TestBrowserFindsNoAccessibilityViolationInTheStorybook(t *testing.T) {
	source := axeScript(t)
	server := httptest.NewServer(storybook.Handler())
	t.Cleanup(server.Close)
	names := append(storybook.Components(), storybook.Names()...)
	if os.Getenv("SHARDBOARD_LONG") == "" {
		names = everyNth(names, 9, len(storybook.Components()))
	}
	const tabs = 2
	next := make(chan string, len(names))
	for _, name := range names {
		next <- name
	}
	close(next)
	var all sync.WaitGroup
	for range tabs {
		ctx := newBrowser(t)
		all.Go(func() {
			for name := range next {
				for _, theme := range []struct{ name, options string }{
					{"light", `{resultTypes: ["violations"]}`},
					{"dark", `{resultTypes: ["violations"], runOnly: ["color-contrast", "link-in-text-block"]}`},
				} {
					address := server.URL + storybook.Prefix + "/" + name + "?theme=" + theme.name
					err := chromedp.Do(ctx, chromedp.Navigate(address), chromedp.WaitVisible("main h1"))
					var found []string
					if err == nil {
						found, err = violations(ctx, source, theme.options)
					}
					if err != nil || len(found) > 0 {
						t.Errorf("%s in %s: %v\n%s", name, theme.name, err, strings.Join(found, "\n"))
					}
					if ctx.Err() != nil {
						return
					}
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d scenes", len(names))
}

// everyNth keeps the first ones and then one of n.
func everyNth(names []string, n, first int) (out []string) {
	for i, name := range names {
		if i < first || i%n == 0 {
			out = append(out, name)
		}
	}
	return out
}
