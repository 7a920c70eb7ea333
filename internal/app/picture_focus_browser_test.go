package app

import (
	"context"
	"fmt"
	"testing"
	"time"

	"shardboard/internal/heat"
	"shardboard/internal/topology"
	"shardboard/static"
)

// readingPlace keeps what somebody does on a page while it changes: the element with the focus, the selected
// text, which details are open, the scroll position, and that the page was not loaded anew.
const readingPlace = `(() => {
	globalThis.marked ??= Math.random();
	const path = (e) => e && [e.id || e.dataset?.map || e.dataset?.heat || e.tagName, e.textContent.slice(0, 40)].join(":");
	return JSON.stringify([globalThis.marked, path(document.activeElement), getSelection().toString(), Math.round(scrollY),
		[...document.querySelectorAll("main details")].map((d) => d.open)]);
})()`

// openAll opens all details of a page and selects the text of an element.
func openAll(t *testing.T, ctx context.Context, text string) {
	t.Helper()
	eval[bool](t, ctx, fmt.Sprintf(`(() => {
		for (const d of document.querySelectorAll("main details")) d.open = true;
		getSelection().selectAllChildren(document.querySelector(%q));
		return getSelection().toString() !== "";
	})()`, text))
}

// staysWhileReading focuses an element, scrolls to it and tells whether all stays as it was after a change.
func staysWhileReading(t *testing.T, ctx context.Context, focus, what string, change func()) {
	t.Helper()
	eval[bool](t, ctx, fmt.Sprintf(`(() => { const e = document.querySelector(%q);
		e.focus({ preventScroll: true }); e.scrollIntoView({ block: "center" }); return true })()`, focus))
	before := eval[string](t, ctx, readingPlace)
	change()
	if after := eval[string](t, ctx, readingPlace); after != before {
		t.Errorf("%s, focus on %s: it was %s and is %s", what, focus, before, after)
	}
}

func TestBrowserKeepsThePlaceOfAReaderOfTheClusterMap(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	if err := inPage(ctx, setScreen(1280, "light")); err != nil {
		t.Fatal(err)
	}
	openMap(t, ctx, d, "map?ns="+changes+"&from=0&to=0.5")
	d.waitForSocket(t)
	openAll(t, ctx, ".maptable tbody td")
	move := func() {
		version := `document.getElementById("live-map").dataset.version`
		before := eval[string](t, ctx, version)
		d.moveFirstChunk(t)
		if err := inPage(ctx, waitUntil(fmt.Sprintf("%s !== %q", version, before))); err != nil {
			t.Fatal("a move does not reach the page")
		}
		waitForTiles(t, ctx)
	}
	for _, focus := range []string{"[data-map=canvas]", "[data-map=only]", ".maptable summary", ".maptable a"} {
		staysWhileReading(t, ctx, focus, "a move", move)
	}
	staysWhileReading(t, ctx, ".maptable a", "a zoom", func() {
		evalMap[bool](t, ctx, fmt.Sprintf(`import(%q).then(({ zoomAtCursor }) => (zoomAtCursor(0.5), true))`, static.URL("js/map_goto.js")))
		waitForTiles(t, ctx)
	})
	bad.check(t)
}

func TestBrowserKeepsThePlaceOfAReaderOfTheHeatMap(t *testing.T) {
	ctx, d := heatPageForSelection(t)
	bad := listenForComplaints(t, ctx)
	if err := inPage(ctx, pressKey("ArrowLeft", "ArrowLeft"), shiftKey("ArrowUp"), pressKey("Enter", "Enter"),
		waitUntil(`document.activeElement.id === "heat-selected"`)); err != nil {
		t.Fatal(err)
	}
	openAll(t, ctx, "#heat-selected")
	const reads = `performance.getEntriesByType("resource").filter((e) => e.name.includes("/heat/map?")).length`
	refresh := func() {
		c, to := d.app.Watcher().Table().Collection(changes), time.Now().Truncate(heat.Tick)
		d.app.current().cluster.pictures.Take(heat.Slot{NS: changes, From: to.Add(-heat.Tick), To: to, Every: 1, Life: c.Incarnation,
			Pieces: []heat.Piece{{Min: c.Chunks.At(1).Min, Rows: 9000}}})
		n := eval[int](t, ctx, reads)
		eval[bool](t, ctx, `(document.dispatchEvent(new Event("visibilitychange")), true)`)
		if err := inPage(ctx, waitUntil(fmt.Sprintf("%s > %d", reads, n))); err != nil {
			t.Fatal("the page reads nothing")
		}
		eval[bool](t, ctx, `(document.body.offsetHeight > 0)`)
	}
	for _, focus := range []string{"[data-heat=canvas]", "#heat-selection .thirds a", "#heat-selected", "[data-heat=brightness]"} {
		staysWhileReading(t, ctx, focus, "new data", refresh)
	}
	staysWhileReading(t, ctx, "#heat-selection .thirds a", "a zoom", func() {
		eval[bool](t, ctx, `(document.querySelector("[data-heat=in]").click(), true)`)
	})
	bad.check(t)
}
