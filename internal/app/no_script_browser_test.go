package app

import (
	"path"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// TestBrowserWorksWithoutJavaScript finds a document, plans a split, runs it and its undo, filters a list and goes back
// in time on a phone that runs no script. What every page shows without scripts, the walk through all pages tests.
func TestBrowserWorksWithoutJavaScript(t *testing.T) {
	d := sharedDemo(t)
	var document struct {
		Key     string
		Project bson.ObjectID `bson:"project_id"`
	}
	must.Do(t, d.driver.Database("yorkie-meta").Collection("documents").FindOne(t.Context(), bson.D{}).Decode(&document))
	o := newTab(t, d, 390)
	o.do(scripts(false))

	// The menu of a phone leads to Locate, and the answer names the shard.
	o.open("zones")
	o.click(".bar-nav button")
	o.follow(`#menu a[href="/locate"]`, "/locate")
	o.fill("#q", document.Project.Hex()+"/"+document.Key)
	o.press("Enter")
	o.until(`document.querySelector(".located .answer .shard")?.checkVisibility()`)

	// A change, its proof and its undo; each page is loaded again to see the end.
	before := d.chunksOfChanges()
	o.open("collections/" + changes + "/chunks/" + d.largestChunk(t, changes, "doc_id"))
	o.follow(`.acts a[href*="kind=split&"]`, "/plans/new")
	runs := func() string {
		o.follow("#plan .confirm button.main", "/runs/")
		at := eval[string](o, "location.pathname")
		run := d.waitForRun(t, path.Base(at))
		must.That(t, run.State == "succeeded", "unexpected run: %+v", run)
		return strings.TrimPrefix(at, "/")
	}
	o.plan("half of the writes go there")
	o.open(runs())
	o.until(`document.querySelector(".commands .proof.is-ok")?.checkVisibility()`)
	n := d.chunksOfChanges()
	expect.That(t, n > before, "%d chunks before, %d after", before, n)
	o.follow("form.undo button", "/plans/")
	runs()
	d.waitForTable(t, "the cut to be gone", func(*topology.Table) bool { return d.chunksOfChanges() == before })

	// A filter is a form that leads to its own address.
	o.open("collections/" + changes)
	o.run(`document.querySelector('main select[name="shard"]').value = "shard-rs-2"`)
	o.follow(`main form.filter:has([name="shard"]) button`, "/collections/")
	o.is("shard-rs-2 shard-rs-2", `new URLSearchParams(location.search).get("shard") + " " +
		[...new Set([...document.querySelectorAll("table.chunks tbody .shard > span")].map(e => e.innerText))].join()`)

	// A past time is part of the address, and links of the page keep it until it is left.
	to := d.moveAndRecord(t)
	o.open("collections/" + changes)
	o.click("#timebar summary")
	o.follow(`#timebar a[data-step="prev"]`, "/collections/")
	o.until(`document.querySelector("#timebar.is-past")?.checkVisibility() && document.querySelector("#menu a[href*='/collections']").search.includes("at=")`)
	at := eval[string](o, "location.href")
	o.follow(`#timebar a[href*="to=prev"]`, "/collections/")
	o.until(`location.href !== ` + strconv.Quote(at) + ` && document.querySelector("#timebar.is-past")`)
	expect.Lacks(t, eval[string](o, chunkRow), to, "before the move, the first chunk is on the shard it moved to")
	o.open("heat")
	o.until(`document.querySelector(".smallheat svg path")?.checkVisibility() && document.querySelector("#heat-table summary")?.checkVisibility()`)
	o.open("map")
	o.until(`document.querySelector("[data-map=svg] svg")?.checkVisibility()`)
}
