package app

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

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
	err := inPage(ctx, chromedp.Navigate(d.app.URL()+"zones"), chromedp.WaitVisible("main h1"))
	if err == nil {
		_, err = chromedp.Run(ctx, openPalette)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Enter right after the last key, before its matches are there.
	err = inPage(ctx, chromedp.WaitVisible("#palette-text"), chromedp.SendKeys("#palette-text", strings.ToUpper(name)+"\r"),
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
	err = inPage(ctx, chromedp.WaitVisible("#palette-text"), chromedp.SendKeys("#palette-text", "nothing-is-called-so"),
		waitUntil(`document.getElementById("palette-note").textContent.includes("nothing-is-called-so")`))
	if err != nil {
		t.Fatal(err)
	}
	if last := eval[string](t, ctx, `document.querySelector("#palette-list li:last-child a").getAttribute("href")`); last != "/locate?q=nothing-is-called-so" {
		t.Errorf("what is not known leads to %q", last)
	}
	if err := inPage(ctx, chromedp.SendKeys("#palette-text", "\x1b"), waitUntil(`!document.getElementById("palette").open`)); err != nil {
		t.Error("Escape does not close the palette")
	}
	bad.check(t)
}

func TestBrowserPaletteIsWorkedByKeysAndGivesTheFocusBack(t *testing.T) {
	ctx := newBrowser(t)
	bad := listenForComplaints(t, ctx)
	d := startDemo(t, quietCluster(), topology.Options{})
	chosen := `[...document.querySelectorAll("#palette-list [role=option]")].findIndex((x) => x.getAttribute("aria-selected") === "true")`
	last := `document.querySelectorAll("#palette-list [role=option]").length - 1`
	err := inPage(ctx, chromedp.Navigate(d.app.URL()+"zones"), chromedp.WaitVisible("#go"),
		chromedp.Evaluate[chromedp.Void](`localStorage.setItem("recent finds", JSON.stringify({
			by: document.querySelector("header .you bdi").textContent, finds: ["found before"]}))`),
		chromedp.Evaluate[chromedp.Void](`document.getElementById("go").focus()`), chromedp.Click("#go"),
		waitUntil(`document.querySelector("#palette-list li bdi")?.textContent === "found before"`))
	if err != nil {
		t.Fatal("what was found before does not lead the list:", err)
	}
	for _, step := range []struct{ key, is string }{
		{kb.End, chosen + " === " + last}, {kb.Home, chosen + " === 0"},
		{kb.ArrowDown, chosen + " === 1"}, {kb.ArrowUp, chosen + " === 0"}, {kb.ArrowUp, chosen + " === " + last},
		{"shard", chosen + ` === 0 && document.querySelector("#palette-list li span").textContent === "shard"`},
	} {
		if err := inPage(ctx, chromedp.SendKeys("#palette-text", step.key), waitUntil(step.is)); err != nil {
			t.Errorf("after %q it is not so that %s: %v", step.key, step.is, err)
		}
	}
	active := `document.getElementById(document.getElementById("palette-text").getAttribute("aria-activedescendant"))`
	if on := eval[string](t, ctx, active+`.getAttribute("aria-selected")`); on != "true" {
		t.Errorf("the field's active option is not the chosen one: %s", on)
	}
	err = inPage(ctx, chromedp.SendKeys("#palette-text", kb.Escape),
		waitUntil(`!document.getElementById("palette").open && document.activeElement.id === "go"`))
	if err != nil {
		t.Error("Escape does not give the focus back:", err, eval[string](t, ctx, `document.activeElement.outerHTML.slice(0, 80)`))
	}
	bad.check(t)
}
