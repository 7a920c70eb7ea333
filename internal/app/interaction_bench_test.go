package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
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
	const deliver = socket_.onmessage;
	let version = 1e6;
	socket_.onmessage = null; // the server's own versions would come between
	window.updates = 0;
	setInterval(() => {
		for (const region of document.querySelectorAll("[data-live]")) {
			const next = region.cloneNode(true);
			for (const n of next.querySelectorAll(".n, td")) if (!n.children.length) n.textContent = String(version % 997);
			deliver({ data: JSON.stringify({ topic: region.dataset.live, v: ++version, html: next.outerHTML }) });
		}
		updates++;
	}, 100);
})()`

// settled is what was observed, after the last frame was.
const settled = `new Promise(done => setTimeout(() => done(Object.values(interactions)), 200))`

// interact does by mouse and keyboard what people do on every page, and on those that have more, that too.
func interact(o *tab) {
	o.Helper()
	click := func(selector string) {
		if !eval[bool](o, `(() => { const e = document.querySelector(`+"`"+selector+"`"+`);
			return Boolean(e?.checkVisibility()) && (e.scrollIntoView({block: "center"}), true) })()`) {
			return
		}
		o.do(chromedp.Click(selector)) // a real one, which the browser times
	}
	click("#theme")
	click("#theme")
	click("#help")
	click("#keys button")
	click("#go")
	o.do(chromedp.WaitVisible("#palette-text"), chromedp.SendKeys("#palette-text", "shard"))
	o.press("ArrowDown", "ArrowUp", "Escape")
	o.until(`!document.getElementById("palette").open`)
	click("main details:not([open]) > summary")
	click("main input[type=search], main input[name=q]")
	o.press("a", "b", "Backspace", "Backspace")
	click("main input[type=radio]:not(:checked)")
	// The grid, the map and the heat picture are read by arrow keys.
	for _, picture := range []string{"#map canvas", "canvas[tabindex]", "[role=grid] [tabindex='0']", "main [role=application]"} {
		if eval[bool](o, `(() => { const e = document.querySelector("`+picture+`"); e?.focus(); return Boolean(e) })()`) {
			o.press("ArrowRight", "ArrowRight", "ArrowDown", "+", "+", "-", "0")
			if strings.Contains(picture, "canvas") { // a cell of a grid is a link
				click(picture)
			}
			must.That(o, eval[bool](o, `document.querySelector("main h1") !== null`), "the page is left")
		}
	}
}

// BenchmarkBrowserInteractionToNextPaint clicks and types on the main pages while each gets ten updates a
// second. It reports the 98th percentile and the longest: interaction to next paint, by the Event Timing API.
func BenchmarkBrowserInteractionToNextPaint(b *testing.B) {
	d := startDemo(b, quietCluster(), topology.Options{})
	o := newTab(b, d, 1280)
	o.do(call(page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: observeInteractions}))
	o.open("") // once before it is measured, so that scripts are compiled
	for _, width := range []int64{1280, 390} {
		for _, path := range []string{"", "map", "matrix", "collections/yorkie-meta.changes", "projects", "activity", "heat", "zones", "advice"} {
			b.Run(fmt.Sprintf("%s/%d", cmp.Or(path, "overview"), width), func(b *testing.B) {
				var all []float64 // ms
				for b.Loop() {
					o.do(screen(width, "light"))
					o.open(path)
					eval[bool](o, tenUpdates+" ?? true")
					o.until("updates > 2")
					interact(o)
					all = append(all, eval[[]float64](o, settled)...)
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

// BenchmarkBrowserTasksUnderTenUpdatesASecond counts the tasks of more than 50 ms while all numbers of a page
// change ten times a second for five seconds, and as many seconds without updates.
func BenchmarkBrowserTasksUnderTenUpdatesASecond(b *testing.B) {
	d := startDemo(b, simcluster.Options{Projects: 100, Documents: 4000, Shards: 12, Still: true}, topology.Options{})
	o := newTab(b, d, 1280)
	for _, path := range []string{"", "activity?kind=all", "matrix", "matrix?by=projects", "projects"} {
		for _, x := range []struct {
			name string
			n    int
		}{{"still", -50}, {"busy", 50}} {
			b.Run(cmp.Or(path, "overview")+" "+x.name, func(b *testing.B) {
				o.open(path)
				o.run(busy)
				for b.Loop() {
					before := spentOn(o)
					o.run("busy.run(%d, 100)", x.n)
					o.until("busy.sent >= 50")
					took := eval[[]float64](o, "busy.long()")
					for name, spent := range spentOn(o) {
						b.ReportMetric(1000*(spent-before[name])/50, "ms-"+strings.ToLower(name)+"/update")
					}
					b.ReportMetric(took[0], "tasks>50ms")
					b.ReportMetric(took[1], "ms/longest")
					b.ReportMetric(took[2], "ms/update")
					b.ReportMetric(took[3], "elements")
				}
			})
		}
	}
}

// spentOn is how much processor time the browser has spent on the page, s, by kind of work.
func spentOn(o *tab) map[string]float64 {
	o.Helper()
	out := map[string]float64{}
	o.do(call(performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			all, err := cdp.Call(ctx, t, performance.GetMetrics, cdp.Empty{})
			for _, m := range all.Metrics {
				if kind, is := strings.CutSuffix(m.Name, "Duration"); is {
					out[kind] = m.Value
				}
			}
			return err
		}))
	return out
}
