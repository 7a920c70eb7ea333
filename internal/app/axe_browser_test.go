package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// pageDeadline is how long a page may take to open and to be checked, on a busy machine.
const pageDeadline = 40 * time.Second

// axeScript reads the accessibility checker. Without a browser it skips the test: `make test` does not install
// the checker, scripts/setup-node does.
func axeScript(t *testing.T) string {
	t.Helper()
	chromiumPath(t)
	b, err := os.ReadFile("../../tools/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("axe-core is not installed, scripts/setup-node does it: %v", err)
	}
	return string(b)
}

const (
	// allRules are those of axe-core that are on by default.
	allRules = `{resultTypes: ["violations"]}`
	// colourRules are those that depend on the theme.
	colourRules = `{resultTypes: ["violations"], runOnly: ["color-contrast", "link-in-text-block"]}`
	// axeCheck returns what axe-core finds, as lines.
	axeCheck = `axe.run(document, %s).then(r => r.violations.map(v =>
		v.id + ": " + v.help + " — " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | ")))`
)

// violations are what axe-core finds on the page that is open.
func violations(ctx context.Context, source, options string) ([]string, error) {
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](source)); err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[[]string](fmt.Sprintf(axeCheck, options), chromedp.EvalAwaitPromise))
}

// Headings are on pages when they are loaded, so nothing waits for them: a page that has none, or that leads
// away, fails at once.
const headingShown = `document.querySelector("main h1")?.checkVisibility() ? "" : document.title + " at " + location.href`

// loadPage loads an address. A page that takes too long, or has no heading, is an error that names it.
func loadPage(ctx context.Context, address string) error {
	if err := inPage(ctx, chromedp.Navigate(address)); err != nil {
		return fmt.Errorf("open %s: %w", address, err)
	}
	instead, err := chromedp.Run(ctx, chromedp.Evaluate[string](headingShown))
	if err != nil {
		return fmt.Errorf("look for the heading of %s: %w", address, err)
	}
	if instead != "" {
		return fmt.Errorf("%s shows no heading, but %s", address, instead)
	}
	return nil
}

// screenPage is a page on a screen. It takes its theme from data-theme, and is the light one at its address.
type screenPage struct {
	address string
	width   int64
}

// violationsInBothThemes opens a page in the light theme, checks it by all rules, turns it dark and checks its
// colours, which are all that differs. A page that is wider than its screen is a violation too.
func violationsInBothThemes(ctx context.Context, source string, p screenPage) (found []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, pageDeadline)
	defer cancel()
	address := p.address
	if err := inPage(ctx, setScreen(p.width, "light")); err != nil {
		return nil, fmt.Errorf("before %s: %w", address, err)
	}
	if err := loadPage(ctx, address); err != nil {
		return nil, err
	}
	light, err := violations(ctx, source, allRules)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", address, err)
	}
	for _, v := range light {
		found = append(found, "in light: "+v)
	}
	const over = `document.documentElement.scrollWidth - document.documentElement.clientWidth`
	if wider, err := chromedp.Run(ctx, chromedp.Evaluate[int](over)); err != nil || wider > 0 {
		found = append(found, fmt.Sprintf("%d px wider than the screen, %v", wider, err))
	}
	dark, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](
		`document.documentElement.dataset.theme = "dark"; `+fmt.Sprintf(axeCheck, colourRules), chromedp.EvalAwaitPromise))
	if err != nil {
		return nil, fmt.Errorf("check %s in dark: %w", address, err)
	}
	for _, v := range dark {
		found = append(found, "in dark: "+v)
	}
	return found, nil
}

// checkPages checks each page in both themes, in as many browsers at a time as keep two processors busy.
func checkPages(t *testing.T, pages []screenPage) {
	t.Helper()
	source := axeScript(t)
	queue := make(chan screenPage, len(pages))
	for _, p := range pages {
		queue <- p
	}
	close(queue)
	var browsers sync.WaitGroup
	for range 2 {
		ctx := newBrowserFor(t, 17*time.Minute)
		browsers.Go(func() {
			for p := range queue {
				found, err := violationsInBothThemes(ctx, source, p)
				if err != nil {
					t.Error(err)
				}
				if len(found) > 0 {
					t.Errorf("%s at %d:\n%s", p.address, p.width, strings.Join(found, "\n"))
				}
			}
		})
	}
	browsers.Wait()
}
