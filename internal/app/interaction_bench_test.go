package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"shardboard/internal/topology"
)

// observeInteractions keeps the longest event of each interaction: from the input to the next painted frame.
const observeInteractions = `(() => {
	window.interactions = {};
	new PerformanceObserver(list => {
		for (const e of list.getEntries()) {
			if (e.interactionId) interactions[e.interactionId] = Math.max(interactions[e.interactionId] ?? 0, e.duration);
		}
	}).observe({ type: "event", durationThreshold: 16, buffered: true });
})()`

// tenUpdates delivers a new version of every live region ten times a second, each with other numbers.
const tenUpdates = `(() => {
	const deliver = socket.onmessage;
	let version = 1e6;
	socket.onmessage = null; // the server's own versions would come between
	window.updates = 0;
	setInterval(() => {
		for (const region of document.querySelectorAll("[data-live]")) {
			const next = region.cloneNode(true);
			for (const n of next.querySelectorAll(".n, td")) if (!n.children.length) n.textContent = String(version % 997);
			deliver({ data: JSON.stringify({ topic: region.dataset.live, v: ++version, html: next.outerHTML }) });
		}
		updates++;
	}, 100);
	return true;
})()`

// settled is what was observed, after the last frame was.
const settled = `new Promise(done => setTimeout(() => done(Object.values(interactions)), 200))`

// interact does by mouse and keyboard what people do on every page, and on those that have more, that too.
func interact(b *testing.B, ctx context.Context) {
	b.Helper()
	press := func(keys ...string) {
		b.Helper()
		for _, k := range keys {
			if err := inPage(ctx, pressKey(k, "")); err != nil {
				b.Fatal(err)
			}
		}
	}
	click := func(selector string) {
		b.Helper()
		if !eval[bool](b, ctx, `(() => { const e = document.querySelector(`+"`"+selector+"`"+`);
			return Boolean(e?.checkVisibility()) && (e.scrollIntoView({block: "center"}), true) })()`) {
			return
		}
		if err := inPage(ctx, chromedp.Click(selector)); err != nil {
			b.Fatal(err)
		}
	}
	click("#theme")
	click("#theme")
	click("#help")
	click("#keys button")
	click("#go")
	if err := inPage(ctx, chromedp.WaitVisible("#palette-text"), chromedp.SendKeys("#palette-text", "shard")); err != nil {
		b.Fatal(err)
	}
	press("ArrowDown", "ArrowUp")
	if err := inPage(ctx, chromedp.SendKeys("#palette-text", "\x1b"), waitUntil(`!document.getElementById("palette").open`)); err != nil {
		b.Fatal(err)
	}
	click("main details:not([open]) > summary")
	click("main input[type=search], main input[name=q]")
	press("a", "b", "Backspace", "Backspace")
	click("main input[type=radio]:not(:checked)")
	// The grid, the map and the heat picture are read by arrow keys.
	for _, picture := range []string{"#map canvas", "canvas[tabindex]", "[role=grid] [tabindex='0']", "main [role=application]"} {
		if eval[bool](b, ctx, `(() => { const e = document.querySelector("`+picture+`"); e?.focus(); return Boolean(e) })()`) {
			press("ArrowRight", "ArrowRight", "ArrowDown", "+", "+", "-", "0")
			if strings.Contains(picture, "canvas") { // a cell of a grid is a link
				click(picture)
			}
			if !eval[bool](b, ctx, `document.querySelector("main h1") !== null`) {
				b.Fatal("the page is left")
			}
		}
	}
}

// BenchmarkBrowserInteractionToNextPaint clicks and types on the main pages while each gets ten updates a
// second. It reports the 98th percentile and the longest: interaction to next paint, by the Event Timing API.
func BenchmarkBrowserInteractionToNextPaint(b *testing.B) {
	ctx := newBrowser(b)
	d := startDemo(b, quietCluster(), topology.Options{})
	err := inPage(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: catchSocket + ";" + observeInteractions})
		return err
	}))
	if err == nil { // once before it is measured, so that scripts are compiled
		err = inPage(ctx, setScreen(1280, "light"), chromedp.Navigate(d.app.URL()), chromedp.WaitVisible("main h1"))
	}
	if err != nil {
		b.Fatal(err)
	}
	for _, width := range []int64{1280, 390} {
		for _, path := range []string{"", "map", "matrix", "collections/yorkie-meta.changes", "projects", "activity", "heat", "zones", "advice"} {
			b.Run(fmt.Sprintf("%s/%d", cmp.Or(path, "overview"), width), func(b *testing.B) {
				var all []float64 // ms
				for b.Loop() {
					err := inPage(ctx, setScreen(width, "light"), chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("main h1"),
						waitUntil(`window.socket?.readyState === 1`))
					if err != nil {
						b.Fatal(err)
					}
					eval[bool](b, ctx, tenUpdates)
					if err := inPage(ctx, waitUntil("updates > 2")); err != nil {
						b.Fatal(err)
					}
					within, cancel := context.WithTimeout(ctx, time.Minute)
					interact(b, within)
					cancel()
					took, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](settled, chromedp.EvalAwaitPromise))
					if err != nil {
						b.Fatal(err)
					}
					all = append(all, took...)
				}
				if len(all) == 0 {
					all = []float64{0} // none took a frame
				}
				slices.Sort(all)
				b.ReportMetric(float64(len(all)), "interactions")
				b.ReportMetric(all[(len(all)*98+99)/100-1], "ms/p98")
				b.ReportMetric(all[len(all)-1], "ms/longest")
			})
		}
	}
}
