package app

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"shardboard/internal/topology"
)

// catchSocket keeps a page's socket, so that a test can send frames as the server does, ten a second.
const catchSocket = `(() => {
	const Socket = window.WebSocket;
	window.WebSocket = class extends Socket { constructor(...a) { super(...a); window.socket = this } };
})()`

// feed makes versions of the page's region: a list of events that ends with the 60 newest, and others.
const feed = `(() => {
	const region = document.querySelector("[data-live]"), first = region.cloneNode(true);
	const deliver = socket.onmessage; // the server's own versions would come between
	let rows = [], version = 1e6, newest = 0, most = 60;
	socket.onmessage = null;
	first.replaceChildren();
	const row = n => '<li data-key="e' + n + '"><span class="when"><time datetime="2026-01-01T00:00:00Z">then</time></span><div><span class="say">event ' + n +
		' <a href="#e' + n + '">link ' + n + '</a></span><details><summary>more of ' + n + '</summary><p>text ' + n + '</p></details></div></li>';
	window.feed = {
		extra: "",
		add(n) { for (let i = 0; i < n; i++) rows.unshift(++newest); rows.length = Math.min(rows.length, most); this.send() },
		send() {
			const next = first.cloneNode(true);
			next.insertAdjacentHTML("beforeend", this.extra + '<h2 id="log">Log</h2><ol class="events" data-held="1 new event|{n} new events">' +
				rows.map(row).join("") + "</ol>");
			deliver({ data: JSON.stringify({ topic: region.dataset.live, v: ++version, html: next.outerHTML }) });
		},
		// burst sends ten versions within a second, each with one more event.
		burst() { this.sent = 0; const t = setInterval(() => { this.add(1); if (++this.sent === 10) clearInterval(t) }, 100) },
		// cost is how long a version with one more event of 200 takes until it is laid out: the mean and the longest, ms.
		cost(n) {
			most = 200;
			this.add(200);
			let sum = 0, longest = 0;
			for (let i = 0; i < n; i++) {
				const from = performance.now();
				this.add(1);
				document.body.getBoundingClientRect();
				const took = performance.now() - from;
				sum += took;
				longest = Math.max(longest, took);
			}
			return [sum / n, longest];
		},
		top: n => document.querySelector('[data-key="e' + n + '"]')?.getBoundingClientRect().top,
		firstRow: () => document.querySelector("ol.events li")?.dataset.key,
		held: () => document.querySelector(".held button")?.textContent ?? "",
	};
	feed.add(60);
	return true;
})()`

// openFed opens a page whose live region gets its versions from the test.
func openFed(t testing.TB, ctx context.Context, d *demo, path string) {
	t.Helper()
	openCaught(t, ctx, d, path)
	eval[bool](t, ctx, feed)
}

// openCaught opens a page whose socket the test can take over.
func openCaught(t testing.TB, ctx context.Context, d *demo, path string) {
	t.Helper()
	err := inPage(ctx,
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument,
				page.AddScriptToEvaluateOnNewDocumentParams{Source: catchSocket})
			return err
		}),
		setScreen(1280, "light"), pointAt(1270, 890), chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("main h1"),
		waitUntil(`window.socket?.readyState === 1 && Boolean(document.querySelector("[data-live]"))`))
	if err != nil {
		t.Fatal(err)
	}
}

func pointAt(x, y float64) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.DispatchMouseEvent,
			input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: x, Y: y})
		return err
	})
}

// burst sends ten versions with new events within a second.
func burst(t *testing.T, ctx context.Context) {
	t.Helper()
	eval[bool](t, ctx, "feed.burst() ?? true")
	if err := inPage(ctx, waitUntil("feed.sent === 10")); err != nil {
		t.Fatal(err)
	}
}

// pagesWithEvents have the list of events in their live region.
var pagesWithEvents = []string{"", "activity"}

func TestBrowserShowsNewEventsAtOnceToWhoeverLooksAtTheTop(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	for _, path := range pagesWithEvents {
		openFed(t, ctx, d, path)
		burst(t, ctx)
		if got := eval[string](t, ctx, "[feed.firstRow(), feed.held()].join()"); got != "e70," {
			t.Errorf("/%s: first row and button %q", path, got)
		}
	}
}

func TestBrowserKeepsFocusSelectionScrollDetailsAndTheRowThatIsRead(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	for _, x := range []struct {
		name, before, state, button, end string
	}{
		{
			"focus", `document.querySelector('[data-key="e40"] a').focus() ?? true`,
			`document.activeElement.textContent`, "10 new events", `(document.activeElement.blur(), scrollTo(0, 0), true)`,
		},
		{
			"the oldest row's focus", `document.querySelector('[data-key="e1"] a').focus() ?? true`,
			`document.activeElement.textContent`, "10 new events", `(document.activeElement.blur(), scrollTo(0, 0), true)`,
		},
		{
			"scroll", `(scrollTo(0, feed.top(40) - 200), true)`,
			`document.elementFromPoint(400, 210).closest("li").dataset.key`, "10 new events", `(scrollTo(0, 0), true)`,
		},
		{
			"an open detail", `(document.querySelector('[data-key="e50"] details').open = true)`,
			`[...document.querySelectorAll("ol.events details[open]")].map(el => el.innerText).join()`, "10 new events",
			`(document.querySelector('[data-key="e50"] details').open = false) || true`,
		},
		{
			"selection", `getSelection().selectAllChildren(document.querySelector('[data-key="e45"]')) ?? true`,
			`String(getSelection())`, "Updates wait while text is selected. Show them now", `getSelection().removeAllRanges() ?? true`,
		},
	} {
		for _, path := range pagesWithEvents {
			openFed(t, ctx, d, path)
			eval[bool](t, ctx, x.before)
			const place = `JSON.stringify([scrollY, feed.top(50), feed.top(40), feed.top(2)])`
			before, was := eval[string](t, ctx, x.state), eval[string](t, ctx, place)
			burst(t, ctx)
			if after := eval[string](t, ctx, x.state); after != before || before == "" {
				t.Errorf("%s on /%s: %q before, %q after ten updates", x.name, path, before, after)
			}
			if now := eval[string](t, ctx, place); now != was {
				t.Errorf("%s on /%s: rows moved from %s to %s", x.name, path, was, now)
			}
			if got := eval[string](t, ctx, "feed.held()"); got != x.button {
				t.Errorf("%s on /%s: the button is %q, want %q", x.name, path, got, x.button)
			}
			eval[bool](t, ctx, x.end)
			if err := inPage(ctx, waitUntil(`feed.firstRow() === "e70" && feed.held() === ""`)); err != nil {
				t.Errorf("%s on /%s: what waited is not shown: %v, %s", x.name, path, err, eval[string](t, ctx, "feed.firstRow() + feed.held()"))
			}
		}
	}
	bad.check(t)
}

func TestBrowserKeepsTheRowUnderThePointer(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	openFed(t, ctx, d, "activity")
	y := eval[float64](t, ctx, "feed.top(58) + 8")
	if err := inPage(ctx, pointAt(600, y), waitUntil(`document.querySelector("ol.events").matches(":hover")`)); err != nil {
		t.Fatal(err)
	}
	burst(t, ctx)
	if got := eval[string](t, ctx, `document.querySelector("ol.events > :hover").dataset.key + " " + feed.held()`); got != "e58 10 new events" {
		t.Errorf("under the pointer after ten updates: %s", got)
	}
	// Something above the list grows: the row stays under the pointer all the same.
	eval[bool](t, ctx, `(feed.extra = "<p>news</p><p>other news</p><p>more news</p>") && (feed.send() ?? true)`)
	if now := eval[float64](t, ctx, "feed.top(58) + 8"); now < y-1 || now > y+1 {
		t.Errorf("the row that was at %v is at %v", y, now)
	}
	if err := inPage(ctx, pointAt(1270, 890), waitUntil(`feed.firstRow() === "e70"`)); err != nil {
		t.Errorf("the new events are not shown after the pointer left: %v", err)
	}
}

func TestBrowserShowsHeldEventsByKeyboard(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	openFed(t, ctx, d, "activity")
	eval[bool](t, ctx, `document.querySelector('[data-key="e40"] a').focus() ?? true`)
	burst(t, ctx)
	eval[bool](t, ctx, `document.querySelector(".held button").focus() ?? true`)
	burst(t, ctx)
	if got := eval[string](t, ctx, `document.activeElement.textContent`); got != "20 new events" {
		t.Errorf("the focus is on %q", got)
	}
	eval[bool](t, ctx, `document.activeElement.click() ?? true`)
	got := eval[string](t, ctx, `[feed.firstRow(), document.activeElement.textContent, feed.held()].join()`)
	if got != "e80,link 80," {
		t.Errorf("after the button: %s", got)
	}
}

func TestBrowserHandsTheFocusOnWhenItsRowLeaves(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	openFed(t, ctx, d, "activity")
	moving := func(keys ...string) {
		t.Helper()
		var list strings.Builder
		for _, k := range keys {
			list.WriteString(`<li data-key=\"` + k + `\"><a href=\"#\">first of ` + k + `</a> <a href=\"#\">second of ` + k + `</a></li>`)
		}
		eval[bool](t, ctx, `(feed.extra = "<h2>Moving</h2><ul>`+list.String()+`</ul>") && (feed.send() ?? true)`)
	}
	moving("a", "b", "c")
	eval[bool](t, ctx, `document.querySelector('[data-key="b"] a:last-child').focus() ?? true`)
	for _, x := range []struct {
		left []string
		want string
	}{{[]string{"a", "c"}, "second of c"}, {[]string{"a"}, "second of a"}, {nil, "Moving"}} {
		moving(x.left...)
		if got := eval[string](t, ctx, "document.activeElement.textContent"); got != x.want {
			t.Errorf("with %v left the focus is on %q, want %q", x.left, got, x.want)
		}
	}
	moving()
	if got := eval[string](t, ctx, "document.activeElement.textContent"); got != "Moving" {
		t.Errorf("the next update took the focus away to %q", got)
	}
	if got := eval[string](t, ctx, `document.getElementById("announce").textContent`); !strings.Contains(got, "no longer listed") {
		t.Errorf("announced: %q", got)
	}
}

// BenchmarkBrowserUpdatesARegionOf200Rows measures a frame from its text to the laid out page.
func BenchmarkBrowserUpdatesARegionOf200Rows(b *testing.B) {
	ctx := newBrowser(b)
	d := startDemo(b, quietCluster(), topology.Options{})
	for _, x := range []struct{ name, before string }{{"shown", "true"}, {"held", `(scrollTo(0, feed.top(40) - 200), true)`}} {
		b.Run(x.name, func(b *testing.B) {
			openFed(b, ctx, d, "activity")
			eval[bool](b, ctx, x.before)
			for b.Loop() {
				took := eval[[]float64](b, ctx, "feed.cost(100)")
				b.ReportMetric(took[0], "ms/update")
				b.ReportMetric(took[1], "ms/longest")
			}
		})
	}
}
