package app

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
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
}
