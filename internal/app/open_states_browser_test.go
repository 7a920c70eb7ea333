package app

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"shardboard/internal/topology"
)

// openState is a page after somebody opened, chose or typed something.
type openState struct {
	name, path string
	width      int64 // of the only screen that has it; 0: every screen
	open       []chromedp.Action[chromedp.Void]
}

func script(js string) chromedp.Action[chromedp.Void] { return chromedp.Evaluate[chromedp.Void](js) }

// typed puts text into a field as typing does.
func typed(id, text string) chromedp.Action[chromedp.Void] {
	return script(fmt.Sprintf(`(() => { const box = document.getElementById(%q); box.focus(); box.value = %q;
		box.dispatchEvent(new InputEvent("input", {bubbles: true})) })()`, id, text))
}

// keysTo gives a canvas the keys.
func keysTo(selector string) chromedp.Action[chromedp.Void] {
	return script(fmt.Sprintf(`document.querySelector(%q).focus()`, selector))
}

const (
	heatDrawn = `document.querySelector("[data-heat=most]")?.textContent !== ""`
	mapDrawn  = `document.querySelector(".mapbody[data-drawn]") !== null`
)

func openStates(project string) []openState {
	control := func(key string) chromedp.Action[chromedp.Void] {
		return script(fmt.Sprintf(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: %q, ctrlKey: true, bubbles: true}))`, key))
	}
	return []openState{
		{name: "palette", path: "zones", open: []chromedp.Action[chromedp.Void]{
			control("k"), waitUntil(`document.getElementById("palette").open && document.querySelector("#palette-list li") !== null`)}},
		{name: "palette with matches", path: "zones", open: []chromedp.Action[chromedp.Void]{
			control("k"), waitUntil(`document.getElementById("palette").open`), typed("palette-text", project[:3]),
			waitUntil(fmt.Sprintf(`document.getElementById("palette-list").textContent.includes(%q)`, project))}},
		{name: "palette without matches", path: "zones", open: []chromedp.Action[chromedp.Void]{
			control("k"), waitUntil(`document.getElementById("palette").open`), typed("palette-text", "nothing-is-called-so"),
			waitUntil(`document.getElementById("palette-note").textContent.includes("nothing-is-called-so")`)}},
		{name: "keyboard help", path: "projects", open: []chromedp.Action[chromedp.Void]{
			pressKey("?", "Slash"), waitUntil(`document.getElementById("keys").open`)}},
		{name: "menu", path: "matrix", width: 390, open: []chromedp.Action[chromedp.Void]{
			script(`document.querySelector("[popovertarget=menu]").click()`), waitUntil(`document.querySelector("#menu:popover-open") !== null`)}},
		{name: "suggestions", path: "locate", open: []chromedp.Action[chromedp.Void]{
			typed("q", project[:3]), waitUntil(fmt.Sprintf(`[...document.querySelectorAll("main [role=listbox]:not([hidden])")].some(
				(list) => list.textContent.includes(%q))`, project))}},
		{name: "cell of the heat picture", path: "heat", open: []chromedp.Action[chromedp.Void]{
			waitUntil(heatDrawn), keysTo("[data-heat=canvas]"), pressKey("ArrowLeft", "ArrowLeft"), pressKey("ArrowUp", "ArrowUp"),
			waitUntil(heatReadout + `.includes("UTC")`)}},
		{name: "selection of the heat picture", path: "heat", open: []chromedp.Action[chromedp.Void]{
			waitUntil(heatDrawn), keysTo("[data-heat=canvas]"), pressKey("ArrowLeft", "ArrowLeft"), pressKey("ArrowUp", "ArrowUp"),
			shiftKey("ArrowUp"), waitUntil(heatReadout + `.startsWith("Rows selected: 2")`), pressKey("Enter", "Enter"),
			waitUntil(`document.activeElement.id === "heat-selected"`)}},
		{name: "chunk on the map", path: "map", open: []chromedp.Action[chromedp.Void]{
			waitUntil(mapDrawn), keysTo("[data-map=canvas]"), pressKey("ArrowRight", "ArrowRight"), waitUntil(mapReadout + `.includes(" of ")`)}},
		{name: "collection on the map", path: "map?ns=yorkie-meta.changes&from=0.25&to=0.5", open: []chromedp.Action[chromedp.Void]{
			waitUntil(mapDrawn)}},
		{name: "cell of the matrix", path: "matrix", open: []chromedp.Action[chromedp.Void]{keysTo("main table [tabindex='0']")}},
	}
}

// checkState opens a state and checks it by all rules, then its colours in the dark theme.
func checkState(t *testing.T, ctx context.Context, d *demo, source string, s openState, width int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, pageDeadline)
	defer cancel()
	if err := inPage(ctx, setScreen(width, "light")); err != nil {
		t.Fatal(err)
	}
	if err := loadPage(ctx, d.app.URL()+s.path); err != nil {
		t.Error(err)
		return
	}
	if err := inPage(ctx, s.open...); err != nil {
		const what = `document.activeElement.outerHTML.slice(0, 200) + "\n" +
			[...document.querySelectorAll("[role=status], output, [aria-live]")].map((e) => e.textContent.trim()).join("\n")`
		look, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		shown, _ := chromedp.Run(look, chromedp.Evaluate[string](what))
		t.Errorf("%s on /%s at %d does not open: %v\n%s", s.name, s.path, width, err, shown)
		return
	}
	for _, scheme := range []string{"light", "dark"} {
		rules := allRules
		if scheme == "dark" { // only colours differ
			rules = colourRules
		}
		if err := inPage(ctx, setScreen(width, scheme)); err != nil {
			t.Fatal(err)
		}
		found, err := violations(ctx, source, rules)
		if err != nil {
			t.Errorf("%s on /%s at %d: %v", s.name, s.path, width, err)
		}
		if len(found) > 0 {
			t.Errorf("%s on /%s at %d in %s:\n%s", s.name, s.path, width, scheme, strings.Join(found, "\n"))
		}
	}
}

func TestBrowserFindsNoAccessibilityViolationInWhatOpens(t *testing.T) {
	ctx := newBrowserFor(t, 10*time.Minute)
	d := startDemo(t, quietCluster(), topology.Options{})
	d.recordHeat(t, 2)
	source := axeScript(t)
	var projects struct{ Items []struct{ Name string } }
	d.getJSON(t, "api/v1/projects?limit=1", &projects)
	states := openStates(projects.Items[0].Name)
	for _, path := range everyPage(t, d) {
		states = append(states, openState{name: "all details", path: path, open: []chromedp.Action[chromedp.Void]{
			script(`document.querySelectorAll("details").forEach((d) => { d.open = true })`)}})
	}
	past := "?at=" + url.QueryEscape(time.Now().Add(-time.Second).UTC().Format("2006-01-02T15:04:05Z"))
	for _, path := range []string{"nope", "shards/nope", "collections/no.such", "projects/000000000000000000000000", past, "zones" + past} {
		states = append(states, openState{name: "no answer", path: path})
	}
	for _, width := range []int64{1280, 390} {
		for _, s := range states {
			if s.width == 0 || s.width == width {
				checkState(t, ctx, d, source, s, width)
			}
		}
	}
	d.stopCluster(t)
	d.waitForTable(t, "a read that fails", func(table *topology.Table) bool { return table.Health[topology.PartRouting].Err != nil })
	for _, width := range []int64{1280, 390} {
		for _, path := range []string{"", "map", "matrix", "heat", "zones", "activity", "projects"} {
			checkState(t, ctx, d, source, openState{name: "stale", path: path}, width)
		}
	}
	d.restartCluster(t, quietCluster()) // it is stopped again when the test ends
}
