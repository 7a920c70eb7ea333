package app

import (
	"fmt"
	"strings"
	"testing"
)

// TestBrowserFollowsAChunkThroughTime watches a chunk, whose mark on every page follows a move. Then it steps through
// changes by keys, on a list and on the map, and chooses a span of time.
func TestBrowserFollowsAChunkThroughTime(t *testing.T) {
	d := sharedDemo(t)
	o := newTab(t, d, 1280)
	marked := func(where string) string {
		return fmt.Sprintf(`document.querySelector(%q)`, where+" [data-watched], "+where+"[data-watched]")
	}
	o.open("collections/" + changes)
	o.follow("table.chunks tbody a", "/collections/"+changes+"/chunks/")
	o.click("a.watch")
	o.until(`document.querySelector("#watching li")?.checkVisibility()`)
	o.open("collections/" + changes)
	o.until(marked("table.chunks tbody tr:first-child") + " && " + marked(".lanes tr") + ` && document.querySelector("line.watchmark")`)
	before := d.app.Watcher().Table().Collection(changes).Chunks.Owner(0)
	to := d.moveAndRecord(t)
	o.until(`document.querySelector("#watching li .shard span")?.innerText === %q &&
		document.querySelector('.lanes tr[data-key=%q]').hasAttribute("data-watched")`, to, to)
	for path, where := range map[string]string{"": "#live-overview tr", "shards": "#live-shards tr",
		"collections": "#live-collections tr", "activity": "#live-activity"} {
		o.open(path)
		o.until(marked(where))
	}
	o.click("#watching .drop")
	o.until(`!document.querySelector("#watching, [data-watched]")`)

	shown := func(shard string) string { return fmt.Sprintf("%s.includes(%q)", chunkRow, shard) }
	o.open("collections/" + changes)
	// The step from now to the last change loads a page; later steps update it in place.
	o.run("window.leaving_ = true")
	o.press(",")
	o.until(`window.leaving_ === undefined && ` + opened + ` && document.querySelector("#timeslider") && ` + shown(to))
	o.run("window.notReloaded = true")
	o.press(",")
	o.until(shown(before) + " && window.notReloaded")
	o.press(".")
	o.until(shown(to) + ` && window.notReloaded && document.querySelectorAll("#timebar rect").length > 0`)
	at := eval[string](o, "encodeURIComponent(document.body.dataset.at)")
	for _, width := range []int64{390, 1280} {
		o.do(screen(width, "light"))
		for _, path := range []string{"?at=" + at, "collections/" + changes + "?at=" + at, "zones?at=" + at} {
			o.open(path)
			o.accessible("a page of the past", allRules)
		}
	}
	o.run("window.leaving_ = true")
	o.press("n")
	o.until(`window.leaving_ === undefined && ` + opened + ` && document.querySelector("details.timebar")`)

	// The map: its slider at the beginning shows the chunk on an earlier shard; playing ends at now.
	o.openMap("map?ns=" + changes + "&from=0&to=0.3")
	on := func(shard string) { o.Helper(); o.until("%s.includes(%q)", mapReadout, " · "+shard+" · ") }
	o.focus("[data-map=canvas]")
	o.press("ArrowRight")
	on(to)
	o.run(`const time = document.querySelector("[data-map=time]"); time.value = time.min; time.dispatchEvent(new Event("input"))`)
	o.until(`location.search.includes("at=") && document.querySelector("[data-map=when]").textContent.includes("UTC")`)
	o.until("%s && !%s.includes(%q)", mapReadout, mapReadout, " · "+to+" · ")
	o.run(`document.querySelector("[data-map=speed]").value = "120"; document.querySelector("[data-map=play]").click()`)
	on(to)
	o.until(`!location.search.includes("at=") && document.querySelector("[data-map=play]").textContent === "Play"`)

	// A span of time, by dragging over the histogram of events and by keys.
	const narrowed = `window.leaving_ === undefined && location.search.includes("from=") && location.search.includes("to=") && ` + opened
	span := func() {
		o.open("activity?kind=all&last=1h")
		o.until(`document.querySelector(".histogram a")`)
		o.run("window.leaving_ = true")
	}
	span()
	box := eval[[]float64](o, `(() => { const svg = document.querySelector(".histogram svg"); svg.scrollIntoView({ block: "center" });
		const r = svg.getBoundingClientRect(); return [r.left + 2, (r.left + r.right) / 2, r.right - 2, r.top + 20] })()`)
	o.drag([2]float64{box[0], box[3]}, [2]float64{box[1], box[3]}, [2]float64{box[2], box[3]})
	o.until(narrowed)
	span()
	whole := eval[string](o, `(() => { const a = [...document.querySelectorAll(".histogram a")]; a[0].focus();
		const at = (x, name) => new URL(x.href.baseVal, location.href).searchParams.get(name);
		return [at(a[0], "from"), at(a.at(-1), "to")].join() })()`)
	bars := eval[int](o, `document.querySelectorAll(".histogram a").length`)
	o.press(strings.Split(strings.Repeat("Shift+ArrowRight,", bars-1)+"Enter", ",")...)
	o.until(narrowed)
	o.is(whole, `(() => { const q = new URL(location.href).searchParams; return [q.get("from"), q.get("to")].join() })()`)
}
