package app

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/heat"
	"shardboard/internal/simcluster"
	"shardboard/static"
)

const (
	mapDrawn  = `document.querySelector(".mapbody[data-drawn]") !== null`
	heatDrawn = `document.querySelector('[data-heat="most"]')?.textContent`
	// These are the live texts below the pictures, and the text of a selection.
	mapReadout    = `document.getElementById("map-readout").textContent`
	heatReadout   = `document.getElementById("heat-readout").textContent`
	heatSelection = `document.getElementById("heat-selection").textContent`
	mapPixels     = `document.querySelector("[data-map=canvas]").toDataURL()`
)

// openMap opens a page with the cluster map and waits until it is laid out and all that is visible has been read.
func (o *tab) openMap(path string) {
	o.Helper()
	o.open(path)
	o.until(mapDrawn)
	o.mapSettled()
}

// mapSettled waits until nothing is being read for several frames. Before the first frame nothing is wanted, and keys
// have no rows to choose from.
func (o *tab) mapSettled() {
	o.Helper()
	eval[bool](o, fmt.Sprintf(`(async () => {
		const [{ settled }, { screen }] = await Promise.all([import(%q), import(%q)]);
		const ready = () => settled() && screen.layout.rows.length > 0;
		for (let still = 0; still < 4; still = ready() ? still + 1 : 0) await new Promise((done) => setTimeout(done, 25));
		return true;
	})()`, static.URL("js/map_tiles.js"), static.URL("js/map_state.js")))
}

// mapView is what the map shows: measure, collection, from, to, whether of the past.
var mapView = fmt.Sprintf(`import(%q).then(({ state: { view: v } }) => [v.by, v.ns, v.from.toFixed(4), v.to.toFixed(4), v.at > 0].join(" "))`,
	static.URL("js/map_state.js"))

// readingPlace is what somebody does on a page while it changes: the element with the focus, the selected text, which
// details are open, the scroll position, and that the page was not loaded anew.
const readingPlace = `(() => {
	globalThis.marked_ ??= Math.random();
	const path = (e) => e && [e.id || e.dataset?.map || e.dataset?.heat || e.tagName, e.textContent.slice(0, 40)].join(":");
	return JSON.stringify([globalThis.marked_, path(document.activeElement), getSelection().toString(), Math.round(scrollY),
		[...document.querySelectorAll("main details")].map((d) => d.open)]);
})()`

// keepsPlace opens all details, selects a text, focuses each of some elements in turn, and makes a change.
func (o *tab) keepsPlace(text, what string, change func(), focus ...string) {
	o.Helper()
	for _, at := range focus {
		o.run(`for (const d of document.querySelectorAll("main details")) d.open = true;
			getSelection().selectAllChildren(document.querySelector(%q))`, text)
		o.until(`(() => { const e = document.querySelector(%q); e.focus({ preventScroll: true });
			e.scrollIntoView({ block: "center" }); return document.activeElement === e })()`, at)
		o.keeps(readingPlace, what+", focus on "+at, change)
	}
}

// TestBrowserReadsTheClusterMap reads it by keys, then while chunks move and writes come, and by touch on a phone.
func TestBrowserReadsTheClusterMap(t *testing.T) {
	d := sharedDemo(t)
	o := newTab(t, d, 1280)
	o.openMap("map")
	o.focus("[data-map=canvas]")
	o.press("ArrowRight")
	o.until(mapReadout + `.includes("chunk 1 of ")`)
	o.accessibleAtBothWidths("a chunk on the map")
	first := eval[string](o, mapReadout)
	expect.That(t, strings.Contains(first, "yorkie-meta.") && strings.Contains(first, "shard-rs-"), "the first chunk's text is %s", first)
	own := fmt.Sprintf("%s.startsWith(%q)", mapReadout, strings.Fields(first)[0])
	for _, step := range []struct{ key, shows string }{
		{"ArrowRight", mapReadout + `.includes("chunk 2 of ")`}, {"ArrowDown", "!" + own}, {"ArrowUp", own},
		{"End", `/chunk (\d+) of \1 /.test(` + mapReadout + `)`}, {"+", `location.search.includes("from=0.")`},
	} {
		o.press(step.key)
		o.until(step.shows)
	}
	got := eval[string](o, mapView)
	expect.That(t, strings.HasSuffix(got, " 0.5000 1.0000 false"), "+ at the last chunk shows %s, want the upper half", got)
	o.press("0")
	o.until(`!location.search.includes("ns=")`)
	o.run("window.leaving_ = true")
	o.press("Enter")
	o.arrive("/collections/")
	o.until(`location.pathname.includes("/chunks/")`)

	// The view is kept in the address, and moving adds nothing to the history.
	o.openMap("map?by=size&ns=" + changes + "&from=0.25&to=0.5")
	o.accessibleAtBothWidths("a collection on the map")
	o.is("size "+changes+" 0.2500 0.5000 false", mapView)
	o.is("size", `document.querySelector('[name="map-by"]:checked').value`)
	o.focus("[data-map=canvas]")
	o.keeps("String(history.length)", "moving", func() { o.press("PageDown", "-", "+", "PageDown", "-", "+", "PageDown", "-", "+") })
	moved := eval[string](o, mapView)
	expect.That(t, moved != "size "+changes+" 0.2500 0.5000 false", "Page down moves nothing")
	o.until(`Math.abs(Number(new URLSearchParams(location.search).get("from")) - ` + strings.Fields(moved)[2] + `) < 1e-4`)
	o.openMap("map" + eval[string](o, "location.search"))
	o.is(moved, mapView)

	// What it shows can be chosen.
	o.openMap("map")
	was := eval[string](o, mapPixels)
	for _, x := range [][2]string{{"size", "data in each chunk"}, {"heat", "writes"}, {"age", "recently"}} {
		o.run(`document.querySelector('[name="map-by"][value=%s]').click()`, x[0])
		o.until(`location.search === '?by=%s' && %s !== %q &&
			document.querySelector("[data-map=scale-what]").textContent.includes(%q)`, x[0], mapPixels, was, x[1])
	}
	o.run(`document.querySelector('[name="map-by"][value=shard]').click();
		const only = document.querySelector("[data-map=only]"); only.value = "shard-rs-2"; only.dispatchEvent(new Event("input"))`)
	o.until(`location.search === "?only=shard-rs-2" && %s !== %q`, mapPixels, was)

	// Moves and writes change the map; its view and what its reader does stay.
	o.do(screen(1280, "dark"))
	o.openMap("map?by=heat&ns=" + changes + "&from=0&to=0.3")
	o.focus("[data-map=canvas]")
	o.press("ArrowRight")
	o.until(mapReadout + `.includes("chunk 1 of ")`)
	o.keeps(mapView, "a move", func() { o.until("%s.includes(%q)", mapReadout, " · "+d.moveFirstChunk(t)+" · ") })
	o.is("canvas", "document.activeElement.dataset.map")

	// New writes are shown while the map stands open.
	o.keeps(mapView, "new writes", func() {
		o.mapSettled()
		before := eval[string](o, mapPixels)
		c := d.app.Watcher().Table().Collection(changes)
		to := time.Now().Truncate(heat.Tick)
		d.app.current().only.now().heat.Recall([]heat.Slot{{NS: changes, From: to.Add(-time.Minute), To: to, Every: 1, Life: c.Incarnation,
			Pieces: []heat.Piece{heat.PieceOf(c, 0, 60_000)}, Counts: []heat.Count{{Rows: 60_000}}}})
		o.until(`%s.includes("writes/s") && %s !== %q`, mapReadout, mapPixels, before)
	})
	o.is("canvas", "document.activeElement.dataset.map")

	o.openMap("map?ns=" + changes + "&from=0&to=0.5")
	o.keepsPlace(".maptable tbody td", "a move", func() {
		version := eval[string](o, `document.getElementById("live-map").dataset.version`)
		d.moveFirstChunk(t)
		o.until(`document.getElementById("live-map").dataset.version !== %q`, version)
		o.mapSettled()
	}, "[data-map=canvas]", "[data-map=only]", ".maptable summary", ".maptable a")
	o.keepsPlace(".maptable tbody td", "a zoom", func() {
		eval[bool](o, fmt.Sprintf(`import(%q).then(({ zoomAtCursor }) => (zoomAtCursor(0.5), true))`, static.URL("js/map_goto.js")))
		o.mapSettled()
	}, ".maptable a")

	o.watchesMove()
	newTab(t, d, 390).movesMapWithFingers()
}

// watchesMove looks at a move on the map that lasts for as long as it looks.
func (o *tab) watchesMove() {
	o.Helper()
	o.openMap("map?ns=" + changes + "&from=0&to=0.5")
	rule := o.d.sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Cloning, Hold: true})
	ended := make(chan error, 1)
	chunk := o.d.app.Watcher().Table().Collection(changes).Chunks.At(0)
	move := o.d.moveCommand(o, chunk, anotherShard(chunk.Shard))
	go func() { ended <- o.d.driver.Database("admin").RunCommand(context.Background(), move).Err() }()
	defer func() {
		rule.Remove()
		expect.NoError(o, <-ended, "the end")
	}()
	// How many of ten pictures, one a frame, differ while the move is drawn.
	pictures := fmt.Sprintf(`(async () => {
		const { state } = await import(%q), seen = new Set();
		while (state.map.moving.length !== 1) await new Promise((done) => setTimeout(done, 25));
		for (let i = 0; i < 10; i++) { await new Promise(requestAnimationFrame); seen.add(%s) }
		return seen.size;
	})()`, static.URL("js/map_state.js"), mapPixels)
	becomes := func(what string, is func(n int) bool) {
		expect.That(o, eventually(waitLimit, func() bool { return is(eval[int](o, pictures)) }), "%v", what)
	}
	o.do(media("", "light", "no-preference"))
	becomes("a running move stands still", func(n int) bool { return n >= 5 })
	o.do(media("", "light", "reduce"))
	becomes("a running move is animated for somebody who prefers less motion", func(n int) bool { return n == 1 })
}

// movesMapWithFingers zooms with two fingers and moves with one.
func (o *tab) movesMapWithFingers() {
	o.Helper()
	o.fingers()
	o.openMap("map")
	// The middle of the first collection's row.
	box := eval[[]float64](o, `(() => { const e = document.querySelector("[data-map=canvas]"); e.scrollIntoView({ block: "center" });
		const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + 70] })()`)
	x, y := box[0], box[1]
	two := func(apart float64) [][2]float64 { return [][2]float64{{x - apart, y}, {x + apart, y}} }
	o.touch(two(20), two(50), two(80)) // two fingers zoom in
	o.until(`location.search.includes("from=")`)
	pinched := eval[string](o, mapView)
	var from, to float64
	if f := strings.Fields(pinched); len(f) == 5 {
		_, _ = fmt.Sscan(f[2]+" "+f[3], &from, &to)
	}
	expect.That(o, to-from <= 0.5 && from <= 0.5 && to >= 0.5, "four times as far apart, the fingers show %s", pinched)
	o.swipe([2]float64{x + 60, y}, [2]float64{x - 60, y}) // one finger moves it sideways
	expect.That(o, eval[string](o, mapView) != pinched, "a finger that moves sideways moves nothing: %s", pinched)
	o.keeps(mapView, "a finger that moves up", func() { // which scrolls the page
		before := eval[float64](o, "scrollY")
		o.swipe([2]float64{x, y + 60}, [2]float64{x, y - 120})
		o.until("scrollY > %v", before)
	})
}

// openHeat opens the heat page and waits until the heat map is drawn.
func (o *tab) openHeat(path string) {
	o.Helper()
	o.open(path)
	o.until(heatDrawn)
	o.run(`document.querySelector("[data-heat=canvas]").scrollIntoView({ block: "center" })`)
	o.focus("[data-heat=canvas]")
}

// TestBrowserReadsTheHeatPicture selects in it by keys, and reaches the marks of moves and splits.
func TestBrowserReadsTheHeatPicture(t *testing.T) {
	d := sharedDemo(t)
	o := newTab(t, d, 1280)
	o.openHeat("heat")
	o.press("ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowUp") // before the present minute, which gets longer
	o.until(heatReadout + `.includes("UTC")`)
	o.accessibleAtBothWidths("a cell of the heat picture")
	for range 200 { // to a minute with writes: nothing is written since the demo was started
		if eval[bool](o, `["writes/s", "shard-rs-"].every((part) => `+heatReadout+`.includes(part))`) {
			break
		}
		o.press("ArrowLeft")
	}
	o.until(`["UTC", "writes/s", "shard-rs-"].every((part) => ` + heatReadout + `.includes(part))`)
	o.press("Shift+ArrowLeft", "Shift+ArrowUp", "Shift+ArrowUp")
	o.until(heatReadout + `.startsWith("Rows selected: 3")`)
	// New data comes while Enter reads the page: the page is read once more, and the focus waits for it.
	eval[bool](o, fmt.Sprintf(`import(%q).then(({ refreshPage }) => {
		document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
		refreshPage();
		return true;
	})`, static.URL("js/heat_selection.js")))
	o.until(`document.activeElement.id === "heat-selected" && ["Chunks ", "writes, ", "of all counted in the collection in this time"]
		.every((part) => ` + heatSelection + `.includes(part))`)
	o.accessibleAtBothWidths("a selection of the heat picture")
	// A link keeps the selection, and its chunks are pages.
	address := strings.TrimPrefix(eval[string](o, "location.pathname + location.search"), "/")
	res, body := d.get(t, address)
	expect.That(t, res.StatusCode == 200 && strings.Contains(string(body), `id="heat-selected"`), "%s: %s", address, res.Status)
	at := eval[string](o, `document.querySelector("#heat-selection .thirds a").getAttribute("href")`)
	res, _ = d.get(t, strings.TrimPrefix(at, "/"))
	expect.Equal(t, res.StatusCode, 200, "%s: unexpected status: %s", at, res.Status)

	// New data and a zoom keep the selection and the reader's place.
	const reads = `performance.getEntriesByType("resource").filter((e) => e.name.includes("/heat/map?")).length`
	o.keeps(`document.getElementById("heat-selected").textContent`, "new data", func() {
		o.keepsPlace("#heat-selected", "new data", func() {
			c, to := d.app.Watcher().Table().Collection(changes), time.Now().Truncate(heat.Tick)
			d.app.current().only.now().pictures.Take(heat.Slot{NS: changes, From: to.Add(-heat.Tick), To: to, Every: 1, Life: c.Incarnation,
				Pieces: []heat.Piece{heat.PieceOf(c, 1, 9000)}})
			n := eval[int](o, reads)
			o.run(`document.dispatchEvent(new Event("visibilitychange"))`)
			o.until("%s > %d", reads, n)
		}, "[data-heat=canvas]", "#heat-selection .thirds a", "#heat-selected", "[data-heat=brightness]")
	})
	o.keepsPlace("#heat-selected", "a zoom", func() { o.run(`document.querySelector("[data-heat=in]").click()`) }, "#heat-selection .thirds a")
	o.run(`getSelection().removeAllRanges()`)
	o.focus("[data-heat=canvas]")
	o.press("Escape") // gives the selection up
	o.until(heatSelection + `.trim() === "" && location.search === ""`)

	// The mark of a move is reached by keys. A mark is divided into its parts where they are far enough from each other.
	d.moveAndRecord(t)
	o.openHeat("heat?span=1h")
	const marks = `[...document.querySelectorAll("#heat-marks li:not([hidden]) a")]`
	o.until(marks + `.filter((a) => a.tabIndex === 0).length === 1`)
	o.run(marks + `.find((a) => a.tabIndex === 0).focus()`)
	o.press("Home")
	o.until(`document.activeElement === ` + marks + `[0] &&
		/^\/(collections|activity|runs)/.test(document.activeElement.getAttribute("href"))`)

	// Three splits within half a minute, as the API has them.
	eval[bool](o, fmt.Sprintf(`Promise.all([import(%q), import(%q), import(%q)]).then(([{ state }, { setView }, { draw }]) => {
		const at = state.heat.from + 600e3, part = (ms, text) => ({ at: new Date(at + ms).toISOString(), text, url: "/activity?n=" + ms });
		state.heat.marks = [{ ...part(0, "3 splits"), to: new Date(at + 30e3).toISOString(), kind: "split", count: 3,
			parts: [part(0, "First"), part(15e3, "Second"), part(30e3, "Third")] }];
		globalThis.look = (from, to) => setView({ ...state.view, t0: at + from, t1: at + to });
		globalThis.all = () => setView(state.all);
		draw();
		return true;
	})`, static.URL("js/heat_state.js"), static.URL("js/heat_input.js"), static.URL("js/heat_frame.js")))
	shown := func(want string) {
		o.Helper()
		o.until(marks+`.map((a) => a.textContent.split(" · ").pop().trim()).join() === %q`, want)
	}
	shown("3 splits")
	o.focus("#heat-marks a")
	o.run(`look(-60e3, 240e3)`)
	shown("First,Second,Third")
	o.focus("#heat-marks li:last-child a")
	o.is("/activity?n=30000", `document.activeElement.getAttribute("href")`)
	o.run(`all()`)
	shown("3 splits")
	o.until(`document.activeElement === document.querySelector("#heat-marks a")`)
}
