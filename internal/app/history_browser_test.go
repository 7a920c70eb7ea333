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

// beMoved moves the first chunk of changes and waits until the move is shown
// and recorded.
func (d *demo) beMoved(t *testing.T) string {
	t.Helper()
	to := d.moveFirst(t)
	d.until(t, "the move", func(table *topology.Table) bool { return table.Collection(changes).Chunks.Owner(0) == to })
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

// shoot keeps a picture of what is shown, to be looked at.
func shoot(t *testing.T, ctx context.Context, name string) {
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
	ctx := browser(t)
	d := startDemo(t, still(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	before := d.app.Watcher().Table().Collection(changes).Chunks.Owner(0)
	to := d.beMoved(t)
	openChanges(t, ctx, d)
	eval[bool](t, ctx, "window.notReloaded = true")
	// From now to the last change is another page; from there on in place.
	if err := chromedp.Do(ctx, key(",", "Comma"), chromedp.WaitVisible("#timeslider")); err != nil {
		t.Fatal(err)
	}
	eval[bool](t, ctx, "window.notReloaded = true")
	shown := func(shard string) string { return fmt.Sprintf("%s.includes(%q)", chunkRow, shard) }
	if err := chromedp.Do(ctx, until(shown(to)), key(",", "Comma"), until(shown(before)+" && window.notReloaded")); err != nil {
		t.Fatalf("one change back, the chunk is not where it was: %v", err)
	}
	if err := chromedp.Do(ctx, key(".", "Period"), until(shown(to)+" && window.notReloaded")); err != nil {
		t.Fatalf("one change on, the chunk is not where it went: %v", err)
	}
	if n := eval[int](t, ctx, `document.querySelectorAll("#timebar rect").length`); n == 0 {
		t.Error("no change is in the picture")
	}
	at := eval[string](t, ctx, "document.body.dataset.at")
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			for _, path := range []string{"?at=" + url.QueryEscape(at), "collections/" + changes + "?at=" + url.QueryEscape(at), "compare",
				"activity", "watch"} {
				err := chromedp.Do(ctx, screen(width, scheme), chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("main h1"))
				if err != nil {
					t.Fatal(err)
				}
				if over := eval[int](t, ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
					t.Errorf("/%s at %d: %d px wider than the screen", path, width, over)
				}
				shoot(
					t,
					ctx,
					fmt.Sprintf("past-%s-%d-%s", strings.NewReplacer("/", "_", "?", "_", "%", "").Replace(path)[:min(len(path), 12)], width, scheme),
				)
			}
		}
	}
	if err := chromedp.Do(ctx, screen(1280, "light"), chromedp.Navigate(d.app.URL()+"?at="+url.QueryEscape(at)),
		chromedp.WaitVisible("#timebar"),
		key("n", "KeyN"), chromedp.WaitVisible("details.timebar")); err != nil {
		t.Fatalf("no way back to now: %v", err)
	}
	bad.check(t)
}

func TestBrowserMarksWatchedChunksOnEveryPage(t *testing.T) {
	ctx := browser(t)
	d := startDemo(t, still(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	openChanges(t, ctx, d)
	chunk := eval[string](t, ctx, `document.querySelector("table.chunks tbody a").href`)
	if err := chromedp.Do(ctx, chromedp.Navigate(chunk), chromedp.WaitVisible("a.watch"), chromedp.Click("a.watch"),
		chromedp.WaitVisible("#watching li")); err != nil {
		t.Fatal(err)
	}
	openChanges(t, ctx, d)
	marked := func(where string) string {
		return fmt.Sprintf(`document.querySelector(%q) !== null`, where+" [data-watched], "+where+"[data-watched]")
	}
	if err := chromedp.Do(ctx, until(marked("table.chunks tbody tr:first-child")), until(marked(".lanes tr")),
		until(`document.querySelector("line.watchmark") !== null`)); err != nil {
		t.Fatalf("the chunk is not marked in its collection: %v", err)
	}
	to := d.moveFirst(t)
	if err := chromedp.Do(ctx,
		until(fmt.Sprintf(`document.querySelector("#watching li .shard span")?.innerText === %q && document.querySelector('.lanes tr[data-key=%q]').hasAttribute("data-watched")`, to, to))); err != nil {
		t.Fatalf("the mark does not follow the move: %v", err)
	}
	shoot(t, ctx, "watch-collection")
	for path, where := range map[string]string{"": "#live-overview tr", "collections": "td[data-shard='" + to + "']",
		"activity": "#live-activity"} {
		if err := chromedp.Do(ctx, chromedp.Navigate(d.app.URL()+path), chromedp.WaitVisible("#watching"), until(marked(where))); err != nil {
			t.Errorf("/%s shows no mark: %v", path, err)
		}
		shoot(t, ctx, "watch-"+path)
	}
	if err := chromedp.Do(ctx, chromedp.Click("#watching .drop"),
		until(`document.querySelector("#watching, [data-watched]") === null`)); err != nil {
		t.Errorf("it is still marked: %v", err)
	}
	bad.check(t)
}
