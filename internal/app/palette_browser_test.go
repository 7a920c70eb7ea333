package app

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"shardboard/internal/topology"
)

func TestBrowserGoesToAProjectByAFewKeys(t *testing.T) {
	ctx := newBrowser(t)
	bad := listenForComplaints(t, ctx)
	d := startDemo(t, quietCluster(), topology.Options{})
	openPalette := chromedp.Evaluate[chromedp.Void](`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true}))`)
	var projects struct{ Items []struct{ ID, Name string } }
	d.getJSON(t, "api/v1/projects?limit=1", &projects)
	name := projects.Items[0].Name
	err := chromedp.Do(ctx, chromedp.Navigate(d.app.URL()+"zones"), chromedp.WaitVisible("main h1"))
	if err == nil {
		_, err = chromedp.Run(ctx, openPalette)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Enter right after the last key, before its matches are there.
	err = chromedp.Do(ctx, chromedp.WaitVisible("#palette-text"), chromedp.SendKeys("#palette-text", strings.ToUpper(name)+"\r"),
		chromedp.WaitVisible("nav.crumbs"))
	if err != nil {
		t.Fatal(err)
	}
	if at := eval[string](t, ctx, "location.pathname"); at != "/projects/"+projects.Items[0].ID {
		t.Errorf("%q led to %s", name, at)
	}
	if _, err := chromedp.Run(ctx, openPalette); err != nil {
		t.Fatal(err)
	}
	err = chromedp.Do(ctx, chromedp.WaitVisible("#palette-text"), chromedp.SendKeys("#palette-text", "nothing-is-called-so"),
		waitUntil(`document.getElementById("palette-note").textContent.includes("nothing-is-called-so")`))
	if err != nil {
		t.Fatal(err)
	}
	if last := eval[string](t, ctx, `document.querySelector("#palette-list li:last-child a").getAttribute("href")`); last != "/locate?q=nothing-is-called-so" {
		t.Errorf("what is not known leads to %q", last)
	}
	if err := chromedp.Do(ctx, chromedp.SendKeys("#palette-text", "\x1b"), waitUntil(`!document.getElementById("palette").open`)); err != nil {
		t.Error("Escape does not close the palette")
	}
	bad.check(t)
}
