package app

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"shardboard/internal/heat"
	"shardboard/internal/topology"
	"shardboard/static"
)

// mapReadout is the live text below the cluster map.
const mapReadout = `document.getElementById("map-readout").textContent`

// openMap opens a page with the cluster map and waits until it is laid out and all that is visible has been read.
func openMap(t testing.TB, ctx context.Context, d *demo, address string) {
	t.Helper()
	err := inPage(ctx, chromedp.Navigate(d.app.URL()+address), waitUntil(`document.querySelector(".mapbody[data-drawn]") !== null`))
	if err != nil {
		t.Fatalf("/%s: no map is drawn: %v", address, err)
	}
	waitForTiles(t, ctx)
}

func waitForTiles(t testing.TB, ctx context.Context) {
	t.Helper()
	// Before the first frame nothing is wanted, and keys have no rows to choose from.
	const settle = `(async () => {
		const [{ settled }, { screen }] = await Promise.all([import(%q), import(%q)]);
		const ready = () => settled() && screen.layout.rows.length > 0;
		for (let still = 0; still < 4; still = ready() ? still + 1 : 0) await new Promise((done) => setTimeout(done, 25));
		return true;
	})()`
	evalMap[bool](t, ctx, fmt.Sprintf(settle, static.URL("js/map_tiles.js"), static.URL("js/map_state.js")))
}

// evalMap runs JavaScript that returns a promise.
func evalMap[T any](t testing.TB, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: unexpected error: %v", js, err)
	}
	return v
}

// mapView is what the map shows: measure, collection, from, to, whether of the past.
func mapView(t testing.TB, ctx context.Context) string {
	t.Helper()
	const view = `import(%q).then(({ state: { view: v } }) => [v.by, v.ns, v.from.toFixed(4), v.to.toFixed(4), v.at > 0].join(" "))`
	return evalMap[string](t, ctx, fmt.Sprintf(view, static.URL("js/map_state.js")))
}

func focusMap(t testing.TB, ctx context.Context) {
	t.Helper()
	eval[bool](t, ctx, `(document.querySelector("[data-map=canvas]").focus(), true)`)
}

func TestBrowserNavigatesTheClusterMapByKeyboard(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	if err := inPage(ctx, setScreen(1280, "light")); err != nil {
		t.Fatal(err)
	}
	openMap(t, ctx, d, "map")
	focusMap(t, ctx)
	if err := inPage(ctx, pressKey("ArrowRight", "ArrowRight"), waitUntil(mapReadout+`.includes(" of ")`)); err != nil {
		t.Fatalf("the arrow keys choose no chunk: %v, %s", err, eval[string](t, ctx, mapReadout))
	}
	first := eval[string](t, ctx, mapReadout)
	for _, want := range []string{"yorkie-meta.", "shard-rs-", "chunk 1 of "} {
		if !strings.Contains(first, want) {
			t.Errorf("the first chunk's text lacks %q: %s", want, first)
		}
	}
	own := fmt.Sprintf("%s.startsWith(%q)", mapReadout, strings.Fields(first)[0])
	for _, step := range []struct{ key, code, shows string }{
		{"ArrowRight", "ArrowRight", mapReadout + `.includes("chunk 2 of ")`},
		{"ArrowDown", "ArrowDown", "!" + own}, {"ArrowUp", "ArrowUp", own},
		{"End", "End", "/chunk (\\d+) of \\1 /.test(" + mapReadout + ")"}, {"+", "Equal", `location.search.includes("from=0.")`},
	} {
		if err := inPage(ctx, pressKey(step.key, step.code), waitUntil(step.shows)); err != nil {
			t.Fatalf("after %s: %v, %s", step.key, err, eval[string](t, ctx, mapReadout))
		}
	}
	if got := mapView(t, ctx); !strings.HasSuffix(got, " 0.5000 1.0000 false") {
		t.Errorf("+ at the last chunk shows %s, want the upper half", got)
	}
	if err := inPage(ctx, pressKey("0", "Digit0"), waitUntil(`!location.search.includes("ns=")`)); err != nil {
		t.Fatalf("0 does not show all: %s", mapView(t, ctx))
	}
	// Enter opens the chunk's page.
	err := inPage(ctx, pressKey("Enter", "Enter"), chromedp.WaitNotPresent("#cluster-map"), chromedp.WaitVisible("main h1"))
	if err != nil {
		t.Fatalf("Enter opens no chunk: %v", err)
	}
	if at := eval[string](t, ctx, "location.pathname"); !strings.Contains(at, "/chunks/") {
		t.Errorf("Enter leads to %s", at)
	}
	bad.check(t)
}

func TestBrowserKeepsTheClusterMapsViewInTheAddress(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	openMap(t, ctx, d, "map?by=size&ns="+changes+"&from=0.25&to=0.5")
	if got, want := mapView(t, ctx), "size "+changes+" 0.2500 0.5000 false"; got != want {
		t.Fatalf("the link shows %s, want %s", got, want)
	}
	if got := eval[string](t, ctx, `document.querySelector('[name="map-by"]:checked').value`); got != "size" {
		t.Errorf("the control says %q", got)
	}
	entries := eval[int](t, ctx, "history.length")
	focusMap(t, ctx)
	for range 3 {
		if err := inPage(ctx, pressKey("PageDown", "PageDown"), pressKey("-", "Minus"), pressKey("+", "Equal")); err != nil {
			t.Fatal(err)
		}
	}
	moved := mapView(t, ctx)
	if moved == "size "+changes+" 0.2500 0.5000 false" {
		t.Fatal("Page down moves nothing")
	}
	written := `Math.abs(Number(new URLSearchParams(location.search).get("from")) - ` + strings.Fields(moved)[2] + `) < 1e-4`
	if err := inPage(ctx, waitUntil(written)); err != nil {
		t.Fatalf("the address stays %s", eval[string](t, ctx, "location.search"))
	}
	if n := eval[int](t, ctx, "history.length"); n != entries {
		t.Errorf("moving adds %d entries to the history", n-entries)
	}
	openMap(t, ctx, d, "map"+eval[string](t, ctx, "location.search"))
	if got := mapView(t, ctx); got != moved {
		t.Errorf("the link shows %s, want %s", got, moved)
	}
	bad.check(t)
}

func TestBrowserSwitchesWhatTheClusterMapShows(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	openMap(t, ctx, d, "map")
	const pixels = `document.querySelector("[data-map=canvas]").toDataURL()`
	before := eval[string](t, ctx, pixels)
	for by, want := range map[string]string{"size": "data in each chunk", "heat": "writes", "age": "recently"} {
		eval[bool](t, ctx, fmt.Sprintf(`(document.querySelector('[name="map-by"][value=%s]').click(), true)`, by))
		err := inPage(ctx, waitUntil(fmt.Sprintf("location.search === '?by=%s' && %s !== %q", by, pixels, before)))
		if err != nil {
			t.Fatalf("%s changes nothing: %s", by, eval[string](t, ctx, "location.search"))
		}
		if got := eval[string](t, ctx, `document.querySelector("[data-map=scale-what]").textContent`); !strings.Contains(got, want) {
			t.Errorf("the legend of %s is %q, want %q in it", by, got, want)
		}
	}
	// The other shards are faint, and all are back with the second choice.
	eval[bool](t, ctx, `(() => { document.querySelector('[name="map-by"][value=shard]').click();
		const only = document.querySelector("[data-map=only]"); only.value = "shard-rs-2"; only.dispatchEvent(new Event("input")); return true })()`)
	if err := inPage(ctx, waitUntil(fmt.Sprintf(`location.search === "?only=shard-rs-2" && %s !== %q`, pixels, before))); err != nil {
		t.Fatal("one shard alone looks as all do")
	}
	bad.check(t)
}

func TestBrowserUpdatesTheClusterMapWithoutMovingTheView(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	if err := inPage(ctx, setScreen(1280, "dark")); err != nil {
		t.Fatal(err)
	}
	openMap(t, ctx, d, "map?ns="+changes+"&from=0&to=0.3")
	d.waitForSocket(t)
	focusMap(t, ctx)
	if err := inPage(ctx, pressKey("ArrowRight", "ArrowRight"), waitUntil(mapReadout+`.includes("chunk 1 of ")`)); err != nil {
		t.Fatal(err)
	}
	eval[bool](t, ctx, `(window.notReloaded = true, scrollTo(0, 60), true)`)
	const place = `[window.notReloaded, scrollY, document.activeElement.dataset.map].join()`
	view, at := mapView(t, ctx), eval[string](t, ctx, place)
	to := d.moveFirstChunk(t)
	if err := inPage(ctx, waitUntil(fmt.Sprintf("%s.includes(%q)", mapReadout, " · "+to+" · "))); err != nil {
		t.Fatalf("the move is not shown: %s", eval[string](t, ctx, mapReadout))
	}
	if got := mapView(t, ctx); got != view {
		t.Errorf("the view is %s after the update, was %s", got, view)
	}
	if got := eval[string](t, ctx, place); got != at || !strings.HasSuffix(got, "canvas") {
		t.Errorf("the page's state is %s after the update, was %s", got, at)
	}
	bad.check(t)
}

func TestBrowserShowsNewWritesOnAMapThatStandsOpen(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	openMap(t, ctx, d, "map?by=heat&ns="+changes+"&from=0&to=0.3")
	d.waitForSocket(t)
	focusMap(t, ctx)
	if err := inPage(ctx, pressKey("ArrowRight", "ArrowRight"), waitUntil(mapReadout+`.includes("chunk 1 of ")`)); err != nil {
		t.Fatal(err)
	}
	if got := eval[string](t, ctx, mapReadout); strings.Contains(got, "writes/s") {
		t.Fatalf("a quiet cluster has writes: %s", got)
	}
	const pixels = `document.querySelector("[data-map=canvas]").toDataURL()`
	view, before := mapView(t, ctx), eval[string](t, ctx, pixels)
	c := d.app.Watcher().Table().Collection(changes)
	to := time.Now().Truncate(heat.Tick)
	d.app.current().cluster.heat.Recall([]heat.Slot{{NS: changes, From: to.Add(-time.Minute), To: to, Every: 1, Life: c.Incarnation,
		Pieces: []heat.Piece{{Min: c.Chunks.At(0).Min, Rows: 60_000}}, Counts: []heat.Count{{Rows: 60_000}}}})
	shown := fmt.Sprintf(`%s.includes("writes/s") && %s !== %q`, mapReadout, pixels, before)
	if err := inPage(ctx, waitUntil(shown)); err != nil {
		t.Fatalf("new writes are not shown: %s", eval[string](t, ctx, mapReadout))
	}
	if got := mapView(t, ctx); got != view {
		t.Errorf("the view is %s after the update, was %s", got, view)
	}
	if at := eval[string](t, ctx, `document.activeElement.dataset.map`); at != "canvas" {
		t.Errorf("the update gives the focus to %q", at)
	}
	bad.check(t)
}

// standsStill tells whether two pictures of the map, 300 ms apart, are the same while something moves. Other news
// may come in between, so it looks several times; what is animated is never twice the same.
const standsStill = `(async () => {
	const { state } = await import(%q);
	const canvas = document.querySelector("[data-map=canvas]"), wait = () => new Promise((done) => setTimeout(done, 300));
	for (let i = 0; i < 8; i++) {
		await wait();
		const before = canvas.toDataURL();
		await wait();
		if (before === canvas.toDataURL() && state.map.moving.length > 0) return true;
	}
	return false;
})()`

func TestBrowserDrawsMovesOnTheClusterMapAsTheyHappen(t *testing.T) {
	ctx := newBrowser(t)
	o := quietCluster()
	o.Migration = 15 * time.Second
	d := startDemo(t, o, topology.Options{})
	bad := listenForComplaints(t, ctx)
	if err := inPage(ctx, setScreen(1280, "light")); err != nil {
		t.Fatal(err)
	}
	openMap(t, ctx, d, "map?ns="+changes+"&from=0&to=0.5")
	d.waitForSocket(t)
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		d.moveFirstChunk(t)
	}()
	const moving = `(async () => {
		const { state } = await import(%q);
		for (let i = 0; i < 200 && state.map.moving.length === 0; i++) await new Promise((done) => setTimeout(done, 50));
		return state.map.moving.length;
	})()`
	if n := evalMap[int](t, ctx, fmt.Sprintf(moving, static.URL("js/map_state.js"))); n != 1 {
		t.Fatalf("%d moves are drawn, want 1", n)
	}
	if evalMap[bool](t, ctx, fmt.Sprintf(standsStill, static.URL("js/map_state.js"))) {
		t.Error("a running move stands still")
	}
	screenshot(t, ctx, "map-moving")
	// Who prefers less motion sees an arrow that stands still.
	calm := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	})
	if err := inPage(ctx, calm); err != nil {
		t.Fatal(err)
	}
	if !evalMap[bool](t, ctx, fmt.Sprintf(standsStill, static.URL("js/map_state.js"))) {
		t.Error("a running move is animated for somebody who prefers less motion")
	}
	<-moved
	bad.check(t)
}

func TestBrowserPlaysTheClusterMapBack(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	before := d.app.Watcher().Table().Collection(changes).Chunks.Owner(0)
	to := d.moveAndWait(t)
	openMap(t, ctx, d, "map?ns="+changes+"&from=0&to=0.3")
	focusMap(t, ctx)
	shown := func(shard string) chromedp.Action[chromedp.Void] {
		return waitUntil(fmt.Sprintf("%s.includes(%q)", mapReadout, " · "+shard+" · "))
	}
	if err := inPage(ctx, pressKey("ArrowRight", "ArrowRight"), shown(to)); err != nil {
		t.Fatal(err)
	}
	// The slider at its beginning shows the chunk on its former shard.
	eval[bool](t, ctx, `(() => { const time = document.querySelector("[data-map=time]");
		time.value = time.min; time.dispatchEvent(new Event("input")); return true })()`)
	if err := inPage(ctx, shown(before)); err != nil {
		t.Fatalf("the past shows %s", eval[string](t, ctx, mapReadout))
	}
	if err := inPage(ctx, waitUntil(`location.search.includes("at=")`)); err != nil {
		t.Fatal("the address has no time")
	}
	// The time is shown when all of it has been drawn.
	if err := inPage(ctx, waitUntil(`document.querySelector("[data-map=when]").textContent.includes("UTC")`)); err != nil {
		t.Errorf("the time shown is %q", eval[string](t, ctx, `document.querySelector("[data-map=when]").textContent`))
	}
	// Playing ends at now.
	eval[bool](t, ctx, `(document.querySelector("[data-map=speed]").value = "120", document.querySelector("[data-map=play]").click(), true)`)
	if err := inPage(ctx, shown(to), waitUntil(`!location.search.includes("at=") && document.querySelector("[data-map=play]").textContent === "Play"`)); err != nil {
		t.Fatalf("playing does not end at now: %s", mapView(t, ctx))
	}
	bad.check(t)
}

func TestBrowserShowsTheClusterMapWithoutJavaScript(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	off := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
	if err := inPage(ctx, off, chromedp.Navigate(d.app.URL()+"map"), chromedp.WaitVisible("[data-map=svg] svg")); err != nil {
		t.Fatalf("no picture without script: %v", err)
	}
}
