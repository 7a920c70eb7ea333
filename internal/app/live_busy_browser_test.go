package app

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// busy makes versions of the largest live region of any page, as the server would while all of its
// numbers change and its lists get a new first row each time. Regions that a page reads from its own
// address are answered that way.
const busy = `(() => {
	const list = [...document.querySelectorAll("[data-live]")];
	const region = list.sort((a, b) => b.querySelectorAll("*").length - a.querySelectorAll("*").length)[0];
	const first = region.cloneNode(true), deliver = socket.onmessage, page = document.documentElement.cloneNode(true);
	socket.onmessage = null;
	let version = 1e6, body = "";
	const ask = window.fetch;
	window.fetch = (url, o) => o?.headers?.Accept === "text/html" ? Promise.resolve(new Response(body, { status: 200 })) : ask(url, o);
	const numbers = (el, n) => {
		const walk = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
		while (walk.nextNode()) {
			const t = walk.currentNode;
			if (!t.parentElement.closest("time, a, summary")) t.nodeValue = t.nodeValue.replace(/\d(?=\D*$)/, n % 10);
		}
	};
	const make = n => {
		const next = first.cloneNode(true);
		numbers(next, n);
		for (const rows of next.querySelectorAll("[data-held]")) {
			for (let i = 1; i <= n && rows.children.length; i++) {
				const row = rows.firstElementChild.cloneNode(true);
				row.dataset.key = "new" + i;
				rows.prepend(row);
			}
		}
		if (!region.dataset.liveUrl) return next.outerHTML;
		const whole = page.cloneNode(true);
		whole.querySelector("#" + region.id).replaceWith(next);
		return whole.outerHTML;
	};
	const versions = [...Array(10).keys()].map(i => make(i + 1));
	window.busy = {
		// run sends ten versions a second, and keeps how long tasks took that took more than 50 ms.
		run(n) {
			this.sent = 0;
			this.tasks = [];
			this.watch = new PerformanceObserver(l => this.tasks.push(...l.getEntries().map(e => e.duration)));
			this.watch.observe({ type: "longtask" });
			this.spent = 0;
			const t = setInterval(() => {
				if (n > 0) {
					const from = performance.now();
					body = versions[this.sent % versions.length];
					deliver({ data: JSON.stringify({ topic: region.dataset.live, v: ++version, html: region.dataset.liveUrl ? "" : body }) });
					this.spent += performance.now() - from;
				}
				if (++this.sent >= Math.abs(n)) clearInterval(t);
			}, 100);
		},
		shown: () => region.textContent !== first.textContent,
		size: region.querySelectorAll("*").length,
		long: () => [busy.tasks.length, Math.max(0, ...busy.tasks), busy.spent / busy.sent, busy.size],
	};
	return true;
})()`

func openBusy(t testing.TB, ctx context.Context, d *demo, path string) {
	t.Helper()
	openCaught(t, ctx, d, path)
	eval[bool](t, ctx, busy)
}

// BenchmarkBrowserTasksUnderTenUpdatesASecond counts the tasks of more than 50 ms while all numbers of a page
// change ten times a second for five seconds, and as many seconds without updates.
func BenchmarkBrowserTasksUnderTenUpdatesASecond(b *testing.B) {
	ctx := newBrowser(b)
	d := startDemo(b, simcluster.Options{Projects: 100, Documents: 4000, Shards: 12, Still: true}, topology.Options{})
	for _, path := range []string{"", "activity?kind=all", "matrix", "matrix?by=projects", "projects"} {
		for _, x := range []struct {
			name string
			n    int
		}{{"still", -50}, {"busy", 50}} {
			b.Run(cmp.Or(path, "overview")+" "+x.name, func(b *testing.B) {
				openBusy(b, ctx, d, path)
				for b.Loop() {
					before := spentOn(b, ctx)
					eval[bool](b, ctx, fmt.Sprintf("busy.run(%d) ?? true", x.n))
					if err := inPage(ctx, waitUntil("busy.sent >= 50")); err != nil {
						b.Fatal(err)
					}
					took := eval[[]float64](b, ctx, "busy.long()")
					for name, spent := range spentOn(b, ctx) {
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
func spentOn(t testing.TB, ctx context.Context) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	err := inPage(ctx, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		if _, err := cdp.Call(ctx, tab, performance.Enable,
			performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
			return err
		}
		all, err := cdp.Call(ctx, tab, performance.GetMetrics, cdp.Empty{})
		for _, m := range all.Metrics {
			if kind, is := strings.CutSuffix(m.Name, "Duration"); is {
				out[kind] = m.Value
			}
		}
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
