package app

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"shardboard/internal/topology"
)

// moveAndWait moves the first chunk of changes and waits until the move is shown and
// recorded.
func (d *demo) moveAndWait(t *testing.T) string {
	t.Helper()
	to := d.moveFirstChunk(t)
	d.waitForTable(t, "the move", func(table *topology.Table) bool { return table.Collection(changes).Chunks.Owner(0) == to })
	deadline := time.Now().Add(10 * time.Second)
	for {
		var list struct{ Items []struct{ Kind, To string } }
		d.getJSON(t, "api/v1/history?limit=1000&ns="+changes, &list)
		for _, i := range list.Items {
			if i.Kind == "moved" && i.To == to {
				return to
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the move is not in the history")
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// screenshot saves a picture of the page.
func screenshot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("SHARDBOARD_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/"+name+".png", png, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestBrowserShowsEarlierStates(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	before := d.app.Watcher().Table().Collection(changes).Chunks.Owner(0)
	to := d.moveAndWait(t)
	openChangesPage(t, ctx, d)
	eval[bool](t, ctx, "window.notReloaded = true")
	// The step from now to the last change loads a page; later steps update it in place.
	if err := inPage(ctx, pressKey(",", "Comma"), chromedp.WaitVisible("#timeslider")); err != nil {
		t.Fatal(err)
	}
	eval[bool](t, ctx, "window.notReloaded = true")
	shown := func(shard string) string { return fmt.Sprintf("%s.includes(%q)", chunkRow, shard) }
	if err := inPage(ctx, waitUntil(shown(to)), pressKey(",", "Comma"), waitUntil(shown(before)+" && window.notReloaded")); err != nil {
		t.Fatalf("one change back, the chunk is not on its former shard: %v", err)
	}
	if err := inPage(ctx, pressKey(".", "Period"), waitUntil(shown(to)+" && window.notReloaded")); err != nil {
		t.Fatalf("one change forward, the chunk is not on its new shard: %v", err)
	}
	if n := eval[int](t, ctx, `document.querySelectorAll("#timebar rect").length`); n == 0 {
		t.Error("the timeline shows no change")
	}
	at := eval[string](t, ctx, "document.body.dataset.at")
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			for _, path := range []string{"?at=" + url.QueryEscape(at), "collections/" + changes + "?at=" + url.QueryEscape(at), "compare",
				"activity", "watch"} {
				err := inPage(ctx, setScreen(width, scheme), chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("main h1"))
				if err != nil {
					t.Fatal(err)
				}
				if over := eval[int](t, ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
					t.Errorf("/%s at %d: %d px wider than the screen", path, width, over)
				}
				screenshot(
					t,
					ctx,
					fmt.Sprintf("past-%s-%d-%s", strings.NewReplacer("/", "_", "?", "_", "%", "").Replace(path)[:min(len(path), 12)], width, scheme),
				)
			}
		}
	}
	if err := inPage(ctx, setScreen(1280, "light"), chromedp.Navigate(d.app.URL()+"?at="+url.QueryEscape(at)),
		chromedp.WaitVisible("#timebar"),
		pressKey("n", "KeyN"), chromedp.WaitVisible("details.timebar")); err != nil {
		t.Fatalf("the page does not lead back to now: %v", err)
	}
	bad.check(t)
}

func TestBrowserMarksWatchedChunksOnEveryPage(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	openChangesPage(t, ctx, d)
	chunk := eval[string](t, ctx, `document.querySelector("table.chunks tbody a").href`)
	if err := inPage(ctx, chromedp.Navigate(chunk), chromedp.WaitVisible("a.watch"), chromedp.Click("a.watch"),
		chromedp.WaitVisible("#watching li")); err != nil {
		t.Fatal(err)
	}
	openChangesPage(t, ctx, d)
	marked := func(where string) string {
		return fmt.Sprintf(`document.querySelector(%q) !== null`, where+" [data-watched], "+where+"[data-watched]")
	}
	if err := inPage(ctx, waitUntil(marked("table.chunks tbody tr:first-child")), waitUntil(marked(".lanes tr")),
		waitUntil(`document.querySelector("line.watchmark") !== null`)); err != nil {
		t.Fatalf("the chunk is not marked in its collection: %v", err)
	}
	to := d.moveFirstChunk(t)
	if err := inPage(ctx,
		waitUntil(fmt.Sprintf(`document.querySelector("#watching li .shard span")?.innerText === %q && document.querySelector('.lanes tr[data-key=%q]').hasAttribute("data-watched")`, to, to))); err != nil {
		t.Fatalf("the mark does not follow the move: %v", err)
	}
	screenshot(t, ctx, "watch-collection")
	for path, where := range map[string]string{"": "#live-overview tr", "collections": "td[data-shard='" + to + "']",
		"activity": "#live-activity"} {
		if err := inPage(ctx, chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("#watching"), waitUntil(marked(where))); err != nil {
			t.Errorf("/%s shows no mark: %v", path, err)
		}
		screenshot(t, ctx, "watch-"+path)
	}
	if err := inPage(ctx, chromedp.Click("#watching .drop"),
		waitUntil(`document.querySelector("#watching, [data-watched]") === null`)); err != nil {
		t.Errorf("the chunk is still marked: %v", err)
	}
	bad.check(t)
}
