package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
)

// feed makes versions of the page's region: a list of events that ends with the 60 newest, and others.
const feed = `
	const region = document.querySelector("[data-live]"), first = region.cloneNode(true);
	const deliver = socket_.onmessage; // the server's own versions would come between
	let rows = [], version = 1e6, newest = 0;
	socket_.onmessage = null;
	first.replaceChildren();
	const row = n => '<li data-key="e' + n + '"><span class="when"><time datetime="2026-01-01T00:00:00Z">then</time></span><div><span class="say">event ' + n +
		' <a href="#e' + n + '">link ' + n + '</a></span><details><summary>more of ' + n + '</summary><p>text ' + n + '</p></details></div></li>';
	window.feed = {
		extra: "",
		add(n) { for (let i = 0; i < n; i++) rows.unshift(++newest); rows.length = Math.min(rows.length, 60); this.send() },
		send() {
			const next = first.cloneNode(true);
			next.insertAdjacentHTML("beforeend", this.extra + '<h2 id="log">Log</h2><ol class="events" data-held="1 new event|{n} new events">' +
				rows.map(row).join("") + "</ol>");
			deliver({ data: JSON.stringify({ topic: region.dataset.live, v: ++version, html: next.outerHTML }) });
		},
		// burst sends ten versions, each with one more event, in as many tasks.
		burst() { this.sent = 0; const t = setInterval(() => { this.add(1); if (++this.sent === 10) clearInterval(t) }, 10) },
		top: n => document.querySelector('[data-key="e' + n + '"]')?.getBoundingClientRect().top,
		firstRow: () => document.querySelector("ol.events li")?.dataset.key,
		held: () => document.querySelector(".held button")?.textContent ?? "",
	};
	feed.add(60)`

// openFed opens a page whose live region gets its versions from the test.
func (o *tab) openFed(path string) {
	o.Helper()
	o.mouse(input.DispatchMouseEventTypeMouseMoved, [2]float64{1270, 890})
	o.open(path)
	o.run(feed)
}

func (o *tab) burst() {
	o.Helper()
	o.run("feed.burst()")
	o.until("feed.sent === 10")
}

// TestBrowserKeepsWhatIsRead reads lists of events, lists, a run and a project while they change.
func TestBrowserKeepsWhatIsRead(t *testing.T) {
	o := newTab(t, sharedDemo(t), 1280)
	o.keepsWhatIsReadInAListOfEvents()
	o.keepsWhatIsReadOnOtherPages()
}

func (o *tab) keepsWhatIsReadInAListOfEvents() {
	o.Helper()
	for _, path := range []string{"", "activity"} {
		o.openFed(path)
		o.burst()
		o.is("e70,", "[feed.firstRow(), feed.held()].join()") // shown at once to whoever looks at the top
		for _, x := range []struct{ name, before, state, button, end string }{
			{"focus", `document.querySelector('[data-key="e40"] a').focus()`, `document.activeElement.textContent`,
				"10 new events", `document.activeElement.blur(); scrollTo(0, 0)`},
			{"the oldest row's focus", `document.querySelector('[data-key="e1"] a').focus()`, `document.activeElement.textContent`,
				"10 new events", `document.activeElement.blur(); scrollTo(0, 0)`},
			{"scroll", `scrollTo(0, feed.top(40) - 200)`, `document.elementFromPoint(400, 210).closest("li").dataset.key`,
				"10 new events", `scrollTo(0, 0)`},
			{"an open detail", `document.querySelector('[data-key="e50"] details').open = true`,
				`[...document.querySelectorAll("ol.events details[open]")].map(el => el.innerText).join()`,
				"10 new events", `document.querySelector('[data-key="e50"] details').open = false`},
			{"selection", `getSelection().selectAllChildren(document.querySelector('[data-key="e45"]'))`, `String(getSelection())`,
				"Updates wait while text is selected. Show them now", `getSelection().removeAllRanges()`},
		} {
			o.openFed(path)
			o.run(x.before)
			o.keeps(`JSON.stringify([`+x.state+`, scrollY, feed.top(50), feed.top(40), feed.top(2)])`, x.name, o.burst)
			o.is(x.button, "feed.held()")
			o.run(x.end)
			o.until(`feed.firstRow() === "e70" && feed.held() === ""`)
		}
	}

	// The row under the pointer stays, also when something above the list grows.
	o.openFed("activity")
	y := eval[float64](o, "feed.top(58) + 8")
	o.mouse(input.DispatchMouseEventTypeMouseMoved, [2]float64{600, y})
	o.until(`document.querySelector("ol.events").matches(":hover")`)
	o.burst()
	o.is("e58 10 new events", `document.querySelector("ol.events > :hover").dataset.key + " " + feed.held()`)
	o.run(`feed.extra = "<p>news</p><p>other news</p><p>more news</p>"; feed.send()`)
	o.until("Math.abs(feed.top(58) + 8 - %v) <= 1", y)
	o.mouse(input.DispatchMouseEventTypeMouseMoved, [2]float64{1270, 890})
	o.until(`feed.firstRow() === "e70"`)

	// The button shows what waits, by keyboard too, and keeps the focus while it waits.
	o.openFed("activity")
	o.focus(`[data-key="e40"] a`)
	o.burst()
	o.focus(".held button")
	o.burst()
	o.is("20 new events", `document.activeElement.textContent`)
	o.press("Enter")
	o.until(`[feed.firstRow(), document.activeElement.textContent, feed.held()].join() === "e80,link 80,"`)

	// The focus of a row that leaves goes to the row beside it, and at last to the heading.
	o.openFed("activity")
	moving := func(keys ...string) {
		var list strings.Builder
		for _, k := range keys {
			list.WriteString(`<li data-key=\"` + k + `\"><a href=\"#\">first of ` + k + `</a> <a href=\"#\">second of ` + k + `</a></li>`)
		}
		o.run(`feed.extra = "<h2>Moving</h2><ul>%s</ul>"; feed.send()`, list.String())
	}
	moving("a", "b", "c")
	o.focus(`[data-key="b"] a:last-child`)
	for _, x := range []struct {
		left []string
		want string
	}{{[]string{"a", "c"}, "second of c"}, {[]string{"a"}, "second of a"}, {nil, "Moving"}, {nil, "Moving"}} {
		moving(x.left...)
		o.is(x.want, "document.activeElement.textContent")
	}
	o.until(`document.getElementById("announce").textContent.includes("no longer listed")`)
}

// busy makes versions of the largest live region of any page, as the server would while all of its numbers change and
// its lists get a new first row each time. Regions that a page reads from its own address are answered that way.
const busy = `
	const list = [...document.querySelectorAll("[data-live]")];
	const region = list.sort((a, b) => b.querySelectorAll("*").length - a.querySelectorAll("*").length)[0];
	const first = region.cloneNode(true), deliver = socket_.onmessage, page = document.documentElement.cloneNode(true);
	socket_.onmessage = null;
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
		// run sends n versions, and keeps how long tasks took that took more than 50 ms.
		run(n, every) {
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
			}, every);
		},
		shown: () => region.textContent !== first.textContent,
		size: region.querySelectorAll("*").length,
		long: () => [busy.tasks.length, Math.max(0, ...busy.tasks), busy.spent / busy.sent, busy.size],
	}`

// middleLink is the first link of the middle row: rows come and change above it.
const middleLink = `const rows = [...document.querySelectorAll("#main [data-live] [data-key]")].filter(r => r.querySelector("a, summary")?.checkVisibility());
	const row = rows[Math.floor(rows.length / 2)], link = row?.querySelector("a, summary"); if (!row) return "";`

// readings are what a person does before ten updates, and what has to be the same after them.
var readings = []struct{ name, before, state string }{
	{"focus", middleLink + `link.focus(); return row.dataset.key`,
		`document.activeElement.closest("[data-key]")?.dataset.key + " " + document.activeElement.textContent`},
	{"selection", middleLink + `getSelection().selectAllChildren(link); return row.dataset.key`, `String(getSelection())`},
	{"scroll", `document.body.style.paddingBottom = "2000px";` + middleLink +
		`scrollBy({ top: row.getBoundingClientRect().top - 220, behavior: "instant" });
		return row.closest("[data-held]")?.getBoundingClientRect().top > 56 ? "" : row.dataset.key`,
		`document.elementFromPoint(500, 230)?.closest("[data-key]")?.dataset.key ?? ""`},
	{"an open detail", `const d = document.querySelector("#main [data-live] details"); if (!d) return "";
		d.open = true; const row = d.closest("[data-key]"); return row ? row.dataset.key : "no row"`,
		`[...document.querySelectorAll("#main [data-live] details[open]")].map(d => d.querySelector("summary").textContent).join()`},
}

func (o *tab) keepsWhatIsReadOnOtherPages() {
	o.Helper()
	opened, scrolled := 0, 0
	var projects api.List[api.Project]
	o.d.getJSON(o, "api/v1/projects?limit=1", &projects)
	for _, path := range []string{"collections", "collections/yorkie-meta.documents", "projects", "runs/" + o.d.someRun(o).ID,
		"projects/" + projects.Items[0].ID} {
		for _, x := range readings {
			o.mouse(input.DispatchMouseEventTypeMouseMoved, [2]float64{1270, 890})
			o.open(path)
			o.run(busy)
			key := eval[string](o, "(() => {"+x.before+"})()")
			switch {
			case key == "" && (x.name == "an open detail" || x.name == "scroll"):
				continue // this page has none, or a short list whose begin is in view: new rows come there
			case x.name == "scroll":
				scrolled++
			case x.name == "an open detail":
				opened++
			}
			place := fmt.Sprintf(`Math.round(document.querySelector("#main [data-key=" + CSS.escape(%q) + "]")?.getBoundingClientRect().top ?? 0)`, key)
			o.keeps("JSON.stringify(["+x.state+","+place+"])", x.name, func() {
				o.run("busy.run(10, 10)")
				o.until("busy.sent === 10")
			})
			if x.name != "selection" {
				o.until("busy.shown()")
			}
		}
	}
	expect.That(o, opened != 0 && scrolled >= 3, "%d pages have details to open, %d rows to read further down", opened, scrolled)
}
