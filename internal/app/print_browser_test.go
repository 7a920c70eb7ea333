package app

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"shardboard/internal/topology"
)

// onPaper draws the page as it is printed on A4 with margins of 12 mm: 703 px wide.
var onPaper = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	if _, err := cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: 703, Height: 1030, DeviceScaleFactor: 1,
	}); err != nil {
		return err
	}
	_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	return err
})

// TestBrowserPrintsAReport holds what paper shows: the head of a report, no navigation and no controls, the map as the
// server drew it, folded text, heads of tables, and nothing cut at the right edge.
func TestBrowserPrintsAReport(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	for _, path := range everyPage(t, d) {
		if strings.HasPrefix(path, "login") {
			continue
		}
		err := inPage(ctx, setScreen(1280, "dark"), chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("main h1"), onPaper)
		if err != nil {
			t.Fatalf("/%s: unexpected error: %v", path, err)
		}
		eval[bool](t, ctx, `(dispatchEvent(new Event("beforeprint")), true)`)
		for what, js := range map[string]string{
			"the head of the report": `!["Placement report", "mongodb://", "shardboard ", " UTC"]
				.every(text => document.querySelector(".report").checkVisibility() && document.querySelector(".report").innerText.includes(text))`,
			"controls": `[...document.querySelectorAll("button, input, select, textarea, nav.side, .bar-nav, header.top")].some(e => e.checkVisibility())`,
			"folds": `[...document.querySelectorAll("main details > summary + *")]
				.some(e => !e.closest(".timebar, form") && !e.matches("form, .more, .offers") &&
				!e.closest(".acts, .offers, .choices") && e.parentElement.checkVisibility() && !e.checkVisibility({contentVisibilityAuto: true}))`,
			"a cut edge": `document.documentElement.scrollWidth > 704`,
			"dark paper": `getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)"`,
			"table heads": `[...document.querySelectorAll("main table.rows:not(.matrix, .where) thead")]
				.some(e => e.closest("table").checkVisibility() && getComputedStyle(e).display !== "table-header-group")`,
			"the map": `[...document.querySelectorAll("[data-map=svg]")].some(e => !e.querySelector("svg").checkVisibility())`,
		} {
			if eval[bool](t, ctx, js) {
				t.Errorf("/%s on paper: %s", path, what)
			}
		}
	}
}

func TestBrowserHasAButtonThatPrints(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	if err := inPage(ctx, setScreen(1280, "light"), chromedp.Navigate(d.app.URL()), chromedp.WaitVisible("[data-print]")); err != nil {
		t.Fatal(err)
	}
	eval[bool](t, ctx, `(window.print = () => { window.printed = true }, true)`)
	if err := inPage(ctx, chromedp.Click("[data-print]"), waitUntil("window.printed === true")); err != nil {
		t.Errorf("the button prints nothing: %v", err)
	}
}
