package app

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// withoutScripts is a browser whose pages run no script.
var withoutScripts = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	return err
})

func TestBrowserLocatesPlansRunsAndProvesWithoutJavaScript(t *testing.T) {
	ctx := newBrowser(t)
	d := startWithActions(t, quietCluster())
	var document struct {
		Key     string        `bson:"key"`
		Project bson.ObjectID `bson:"project_id"`
	}
	if err := d.driver.Database("yorkie-meta").Collection("documents").FindOne(t.Context(), bson.D{}).Decode(&document); err != nil {
		t.Fatal(err)
	}
	o := &operatorBrowser{T: t, ctx: ctx, d: d}
	o.do(withoutScripts, setScreen(390, "light"))

	// The menu of a phone leads to Locate, and the answer names the shard.
	o.open("zones")
	o.do(chromedp.Click(".bar-nav button"), chromedp.WaitVisible("#menu"), chromedp.Click(`#menu a[href="/locate"]`),
		chromedp.WaitVisible("#q"), chromedp.SendKeys("#q", document.Project.Hex()+"/"+document.Key+"\r"),
		chromedp.WaitVisible(".located .answer .shard"))

	const ns = "yorkie-meta.changes"
	before := d.app.Watcher().Table().Collection(ns).Chunks.Len()
	o.open("collections/" + ns + "/chunks/" +
		d.largestChunk(t, ns, "doc_id", func(id bson.ObjectID) any { return shardkey.HashObjectID(id) }))
	o.openForm("split")
	o.plan("half of the writes go there", "no-script")
	o.do(chromedp.Click("#plan .confirm button.main"), chromedp.WaitVisible("#live-run"))
	at, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		t.Fatal(err)
	}
	if run := d.waitForRun(t, filepath.Base(at)); run.State != "succeeded" {
		t.Fatalf("unexpected run: %+v", run)
	}
	o.do(chromedp.Navigate(at), chromedp.WaitVisible(".commands .proof.is-ok"))
	if after := d.app.Watcher().Table().Collection(ns).Chunks.Len(); after <= before {
		t.Errorf("%d chunks before, %d after", before, after)
	}

	// The run leads to its undo, which is planned and run the same way.
	o.do(chromedp.Click("form.undo button"), chromedp.WaitVisible("#plan .confirm"),
		chromedp.Click("#plan .confirm button.main"), chromedp.WaitVisible("#live-run"))
	if at, err = chromedp.Run(ctx, chromedp.Location()); err != nil {
		t.Fatal(err)
	}
	if run := d.waitForRun(t, filepath.Base(at)); run.State != "succeeded" {
		t.Fatalf("unexpected undo: %+v", run)
	}
	d.waitForTable(t, "the cut to be gone", func(table *topology.Table) bool { return table.Collection(ns).Chunks.Len() == before })
}

func TestBrowserFiltersAndTravelsInTimeWithoutJavaScript(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	o := &operatorBrowser{T: t, ctx: ctx, d: d}
	o.do(withoutScripts, setScreen(390, "light"))

	// A filter is a form that leads to its own address.
	o.open("collections/yorkie-meta.changes")
	o.do(chromedp.SetValue(`main select[name="shard"]`, "shard-rs-2"), chromedp.Click(`main form.filter:has([name="shard"]) button`))
	o.arrives(`location.search !== "" && document.querySelector("table.chunks tbody tr") !== null`)
	shown := eval[string](t, ctx, `location.search + " " + [...new Set([...document.querySelectorAll("table.chunks tbody .shard > span")]
		.map(e => e.innerText))].join()`)
	if !strings.Contains(shown, "shard=shard-rs-2") || !strings.HasSuffix(shown, " shard-rs-2") {
		t.Errorf("the filter shows %q", shown)
	}

	// A past time is part of the address, and links of the page keep it until it is left.
	to := d.moveAndWait(t)
	o.open("collections/yorkie-meta.changes")
	o.do(chromedp.Click("#timebar summary"), chromedp.WaitVisible("#timebar .steps a"), chromedp.Click(`#timebar a[data-step="prev"]`),
		chromedp.WaitVisible("#timebar.is-past"))
	past := eval[string](t, ctx, `document.querySelector("#menu a[href*='/zones']").search`)
	if !strings.Contains(past, "at=") {
		t.Errorf("the menu of a page of the past leads to /zones%s", past)
	}
	at := eval[string](t, ctx, "location.href")
	o.do(chromedp.Click(`#timebar a[href*="to=prev"]`))
	o.arrives(`location.href !== ` + strconv.Quote(at) + ` && document.querySelector("#timebar.is-past") !== null`)
	if row := eval[string](t, ctx, chunkRow); strings.Contains(row, to) {
		t.Errorf("before the move, the first chunk is on the shard it moved to: %s", row)
	}
}
