package app

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"shardboard/internal/fixture/expect"
	"shardboard/static"
)

// Times in the text of pages are in the zone of the browser, with UTC on hover, and do not change where that is UTC or
// UTC was chosen. What could be read in two ways stays.
func TestBrowserShowsTimesInItsZone(t *testing.T) {
	d := sharedDemo(t)
	o := newTab(t, d, 1280)
	const put = `(async (at, ...texts) => {
		const { showZone } = await import(%q);
		document.body.dataset.at = at;
		const main = document.createElement("main");
		for (const text of texts) main.append(Object.assign(document.createElement("p"), { textContent: text }));
		main.insertAdjacentHTML("beforeend", '<code>06:48 UTC</code><time datetime="2026-07-01T06:48:05Z" title="2026-07-01T06:48:05Z">1 h ago</time>');
		showZone(main);
		showZone(main);
		const hover = [...main.querySelectorAll("[data-utc]")].map(e => e.title).join("|");
		return [...main.children].map(e => e.textContent).join("|") + "|" + main.querySelector("time").title + "|" + hover;
	})("2026-07-01T07:00:00Z", "until 06:48 UTC; now 35 %%", "at 2 Jan 23:30 UTC and 2026-07-01 06:48:05 UTC", "06:40 to 06:48 UTC",
		"Mon-Fri 01:00-05:00 UTC", "23:50\u2009UTC", "no time, UTC")`
	show := func(zone, want string) {
		t.Helper()
		o.do(call(emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone}))
		o.open("collections")
		got := eval[string](o, fmt.Sprintf(put, static.URL("js/zone.js")))
		expect.That(t, got == want, "in %s:\n%s\nwant\n%s", zone, got, want)
	}
	const utc = "until 06:48 UTC; now 35 %|at 2 Jan 23:30 UTC and 2026-07-01 06:48:05 UTC|06:40 to 06:48 UTC|Mon-Fri 01:00-05:00 UTC|" +
		"23:50\u2009UTC|no time, UTC|06:48 UTC|1 h ago|2026-07-01T06:48:05Z|"
	show("UTC", utc)
	show("Asia/Kolkata", "until 12:18 GMT+5:30; now 35 %|at 3 Jan 05:00 GMT+5:30 and 1 Jul 2026 12:18:05 GMT+5:30|06:40 to 06:48 UTC|"+
		"Mon-Fri 01:00-05:00 UTC|05:20 GMT+5:30|no time, UTC|06:48 UTC|1 h ago|1 Jul 2026 12:18:05 GMT+5:30 · 2026-07-01T06:48:05Z|"+
		"06:48 UTC|2 Jan 23:30 UTC|2026-07-01 06:48:05 UTC|23:50\u2009UTC")
	// Axes of pictures and sliders have that zone too, at times that are round there.
	const axes = `(async () => {
		const [{ ticks, spanText }, { minuteText }] = await Promise.all([import(%q), import(%q)]);
		const t0 = Date.parse("2026-07-01T03:40:00Z");
		const texts = ticks({ t0, t1: t0 + 3 * 3600_000, r0: 0, r1: 1 }, 300).map((x) => x.text);
		return [...texts, spanText({ from: t0, to: t0 + 60_000 }), minuteText(t0)].join("|");
	})()`
	got, want := eval[string](o, fmt.Sprintf(axes, static.URL("js/heat_view.js"), static.URL("js/zone.js"))),
		"10:00|11:00|12:00|07-01 09:10–09:11 GMT+5:30|2026-07-01 09:10 GMT+5:30"
	expect.Equal(t, got, want, "axes")
	// A live region that has not changed stays as it is: it neither loses the browser's zone nor seems new.
	const live = `(async () => {
		const [{ parsed }, { showRegion }] = await Promise.all([import(%q), import(%q)]);
		const region = () => parsed("<div id=r><p>until 06:48 UTC</p></div>").getElementById("r");
		const shown = region();
		document.querySelector("main").append(shown);
		let changes = 0;
		const all = { subtree: true, childList: true, characterData: true, attributes: true };
		new MutationObserver((list) => changes += list.length).observe(shown, all);
		for (let i = 0; i < 3; i++) showRegion(shown, region(), true);
		await new Promise((done) => setTimeout(done));
		return changes + " " + shown.innerHTML;
	})()`
	got, want = eval[string](o, fmt.Sprintf(live, static.URL("js/requests.js"), static.URL("js/live_region.js"))),
		`0 <p>until <span title="06:48 UTC" data-utc="06:48 UTC">12:18 GMT+5:30</span></p>`
	expect.That(t, got == want, "%s, want %s", got, want)
	o.open("settings")
	o.click(`[data-zone-choice="utc"]`)
	o.until(`document.querySelector('[data-zone-choice="utc"]')?.getAttribute("aria-pressed") === "true"`)
	show("Asia/Kolkata", utc)
	o.run(`localStorage.removeItem("zone")`)
}
