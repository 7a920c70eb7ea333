package app

import (
	"testing"

	"github.com/chromedp/chromedp"

	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

func TestBrowserListsTheShardsOfARowOnAPhone(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, simcluster.Options{Shards: 6, Projects: 20, Documents: 400}, topology.Options{})
	bad := listenForComplaints(t, ctx)
	const changes = `document.querySelector('tr[data-key="yorkie-meta.changes"]')`
	err := inPage(ctx, setScreen(390, "light"), chromedp.Navigate(d.app.URL()+"matrix"),
		waitUntil(changes+`?.querySelector(".shardlist")?.offsetParent != null`))
	if err != nil {
		t.Fatal(err)
	}
	eval[bool](t, ctx, `(window.stayed = true, `+changes+`.querySelector(".shardlist").click(), true)`)
	if err := inPage(ctx, waitUntil(`document.querySelectorAll("tr.listed li").length > 0`)); err != nil {
		t.Fatal(err)
	}
	if !eval[bool](t, ctx, `window.stayed`) {
		t.Error("the list leaves the page")
	}
	right := `Math.max(...[...document.querySelectorAll("tr.listed li")].map((li) => li.getBoundingClientRect().right))`
	if x := eval[float64](t, ctx, right+` - document.querySelector(".gridbox").getBoundingClientRect().right`); x > 0 {
		t.Errorf("the list is %v wider than its table", x)
	}
	if err := inPage(ctx, chromedp.Navigate(d.app.URL()), waitUntil(`document.querySelector(".smallmatrix summary") !== null`)); err != nil {
		t.Fatal(err)
	}
	eval[bool](t, ctx, `(document.querySelector(".smallmatrix summary").click(), true)`)
	if err := inPage(ctx, waitUntil(`document.querySelector(".smallmatrix .grid").offsetParent !== null`)); err != nil {
		t.Fatal(err)
	}
	if n := eval[float64](t, ctx, `document.documentElement.scrollWidth - innerWidth`); n > 0 {
		t.Errorf("the overview is %v wider than its window", n)
	}
	bad.check(t)
}
