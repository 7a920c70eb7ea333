package app

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// deadControls are controls that can be seen and do nothing without scripts: a button outside of a form that opens no
// popover, a field outside of a form, a canvas, a link to nowhere, a form without an address and a button to send it.
const deadControls = `(() => {
	for (const d of document.querySelectorAll("details")) d.open = true;
	const dead = (e) => {
		switch (e.localName) {
		case "button": return !e.form && !e.hasAttribute("popovertarget");
		case "input": case "select": case "textarea": return !e.form ||
			e.form.method !== "dialog" && !e.disabled &&
			![...e.form.elements].some(b => b.localName === "button" && b.type === "submit") &&
			!(e.form.elements.length === 1 && e.localName === "input");
		case "a": return e.getAttribute("href") === "#" || e.getAttribute("href") === "" ||
			!e.hasAttribute("href") && e.getAttribute("role") === "button";
		case "canvas": return true;
		case "form": return e.getAttribute("action") === "#";
		}
		return e.getAttribute("role") !== null && !e.matches("summary");
	};
	return [...document.querySelectorAll("button, input:not([type=hidden]), select, textarea, a, canvas, form, " +
			"[role=button], [role=slider], [role=combobox], [draggable=true]")]
		.filter(e => e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && dead(e))
		.map(e => e.outerHTML.slice(0, 160)).slice(0, 8);
})()`

// TestBrowserShowsNoDeadControlWithoutJavaScript opens every page of the route table without scripts: what only
// a script makes work is not shown. Journeys without scripts are in no_script_browser_test.go.
func TestBrowserShowsNoDeadControlWithoutJavaScript(t *testing.T) {
	ctx := newBrowser(t)
	d, names := startHostileDemo(t, 24)
	addresses := addressesOf(t, d, names)
	if err := inPage(ctx, withoutScripts); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{1280, 390} {
		for _, path := range addresses {
			if err := inPage(ctx, setScreen(width, "light"), chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("main h1")); err != nil {
				t.Fatalf("/%s: unexpected error: %v", path, err)
			}
			if dead := eval[[]string](t, ctx, deadControls); len(dead) > 0 {
				t.Errorf("/%s at %d px has controls that do nothing:\n%s", path, width, strings.Join(dead, "\n"))
			}
		}
	}
}
