package app

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// operatorBrowser is an operator who changes the cluster with a browser.
type operatorBrowser struct {
	*testing.T
	ctx   context.Context
	d     *demo
	shots int
}

func (o *operatorBrowser) do(actions ...chromedp.Action[chromedp.Void]) {
	o.Helper()
	ctx, cancel := context.WithTimeout(o.ctx, 40*time.Second)
	defer cancel()
	if err := inPage(ctx, actions...); err != nil {
		at, _ := chromedp.Run(o.ctx, chromedp.Location())
		text, _ := chromedp.Run(o.ctx, chromedp.Evaluate[string](`document.querySelector("main").innerText.slice(0, 2000)`))
		o.Fatalf("at %s: %v\n%s", at, err, text)
	}
}

// screenshot saves pictures at laptop and phone width in the folder SHARDBOARD_SHOTS.
func (o *operatorBrowser) screenshot(name string) {
	o.Helper()
	folder := os.Getenv("SHARDBOARD_SHOTS")
	if folder == "" {
		return
	}
	o.shots++
	for _, width := range []int64{390, 1280} {
		o.do(setScreen(width, "light"))
		png, err := chromedp.Run(o.ctx, chromedp.FullScreenshot(100))
		if err != nil {
			o.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("a%02d-%s-%d.png", o.shots, name, width)), png, 0o644); err != nil {
			o.Fatal(err)
		}
	}
}

func (o *operatorBrowser) open(path string) {
	o.Helper()
	o.do(chromedp.Navigate(o.d.app.URL()+path), chromedp.WaitVisible("main h1"))
}

// openForm follows the link of a change on the page to its form.
func (o *operatorBrowser) openForm(kind string) {
	o.Helper()
	o.do(chromedp.Click(`.acts a[href*="kind=`+kind+`&"]`), chromedp.WaitVisible("form.plan"))
}

// plan enters the reason and makes the plan.
func (o *operatorBrowser) plan(reason, name string) {
	o.Helper()
	o.do(chromedp.SendKeys("form.plan #reason", reason))
	// To the middle of the window: on a phone the fixed bar lies over its lower end.
	eval[bool](o.T, o.ctx, `document.querySelector("form.plan button.main").scrollIntoView({block: "center"}), true`)
	o.do(chromedp.Click("form.plan button.main"), chromedp.WaitVisible("#plan .confirm"))
	o.screenshot(name + "-plan")
}

// run confirms the plan and waits, without a reload, until the run has ended.
func (o *operatorBrowser) run(name string) {
	o.Helper()
	o.do(chromedp.Click("#plan .confirm button.main"), chromedp.WaitVisible("#live-run"))
	eval[bool](o.T, o.ctx, "window.notReloaded = true")
	o.do(waitUntil(`!document.querySelector("#live-run").classList.contains("is-open") && window.notReloaded === true`))
	o.screenshot(name + "-run")
	at, err := chromedp.Run(o.ctx, chromedp.Location())
	if err != nil {
		o.Fatal(err)
	}
	var run api.Run
	o.d.getJSON(o.T, "api/v1/runs/"+filepath.Base(at), &run)
	if run.State != "succeeded" {
		o.Fatalf("%s: unexpected run: %+v", name, run)
	}
}

// undo plans and runs the undo of the run that is shown.
func (o *operatorBrowser) undo(name string) {
	o.Helper()
	o.do(chromedp.Click("form.undo button"), chromedp.WaitVisible("#plan .confirm"))
	o.screenshot(name + "-undo-plan")
	o.run(name + "-undo")
}

// largestChunk returns the reference of the chunk with the most rows, counted with a
// separate driver. place returns the shard-key value of a row's field.
func (d *demo) largestChunk(t *testing.T, ns topology.Namespace, field string, place func(bson.ObjectID) any) string {
	t.Helper()
	var groups []struct {
		ID bson.ObjectID `bson:"_id"`
		N  int
	}
	cursor, err := d.driver.Database(ns.Database()).Collection(ns.Collection()).Aggregate(t.Context(), bson.A{
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + field}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}}})
	if err == nil {
		err = cursor.All(t.Context(), &groups)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := d.app.Watcher().Table().Collection(ns)
	rows, best := map[int]int{}, 0
	for _, g := range groups {
		doc, err := bson.Marshal(bson.D{{Key: field, Value: place(g.ID)}})
		if err != nil {
			t.Fatal(err)
		}
		k, err := c.Key.Bound(doc)
		if err != nil {
			t.Fatal(err)
		}
		i, _ := c.Chunks.Find(k)
		if rows[i] += g.N; rows[i] > rows[best] {
			best = i
		}
	}
	var chunks struct{ Items []struct{ Ref string } }
	d.getJSON(t, "api/v1/collections/"+string(ns)+"/chunks?limit=1000", &chunks)
	return chunks.Items[best].Ref
}

func TestBrowserSplitsAChunkPinsAProjectAndUndoesBoth(t *testing.T) {
	ctx := newBrowser(t)
	options := quietCluster()
	options.Migration = 2 * time.Second // long enough to be seen
	d := startWithActions(t, options)
	bad := listenForComplaints(t, ctx)
	o := &operatorBrowser{T: t, ctx: ctx, d: d}
	o.do(setScreen(1280, "light"))

	// The largest chunk of documents holds one project, so it cannot be split. The page
	// says so and offers no split; a plan that is requested anyway is blocked.
	ref := d.largestChunk(t, "yorkie-meta.documents", "project_id", func(id bson.ObjectID) any { return id })
	o.open("collections/yorkie-meta.documents/chunks/" + ref)
	if text := eval[string](t, ctx, `document.querySelector(".acts").innerText`); !strings.Contains(text, "cannot be split") ||
		eval[bool](t, ctx, `!!document.querySelector('.acts a[href*="kind=split&"]')`) {
		t.Errorf("an impossible split is offered:\n%s", text)
	}
	o.do(
		chromedp.Navigate(d.app.URL()+"plans/new?"+url.Values{"kind": {"split"}, "ns": {"yorkie-meta.documents"}, "chunk": {ref}}.Encode()),
		chromedp.WaitVisible("form.plan"),
	)
	o.plan("half of the writes go there", "blocked")
	if text := eval[string](t, ctx, `document.querySelector("#plan").innerText`); !strings.Contains(text, "cannot be split inside a value") ||
		!eval[bool](t, ctx, `document.querySelector("#plan .confirm button.main")?.disabled ?? true`) {
		t.Errorf("the plan is not shown as blocked:\n%s", text)
	}

	// Nearly all writes go to changes.
	const ns = "yorkie-meta.changes"
	chunks := func() int { return d.app.Watcher().Table().Collection(ns).Chunks.Len() }
	before := chunks()

	ref = d.largestChunk(t, ns, "doc_id", func(id bson.ObjectID) any { return shardkey.HashObjectID(id) })
	o.open("collections/" + ns + "/chunks/" + ref)
	o.screenshot("chunk")
	o.openForm("split")
	o.screenshot("split-form")
	o.plan("half of the writes go there", "split")
	o.run("split")
	d.waitForTable(t, "the cut to show", func(*topology.Table) bool { return chunks() == before+1 })
	o.undo("split")
	d.waitForTable(t, "the cut to be gone", func(*topology.Table) bool { return chunks() == before })

	var projects struct{ Items []struct{ ID string } }
	d.getJSON(t, "api/v1/projects?limit=1", &projects)
	id := projects.Items[0].ID
	on := func(shard string) string {
		return fmt.Sprintf(
			`document.querySelector('tr[data-key="yorkie-meta.documents"] td.at[data-label="%s"] svg rect') !== null && window.notReloaded === true`,
			shard,
		)
	}
	was := ""
	for _, shard := range []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"} {
		o.open("projects/" + id)
		eval[bool](t, ctx, "window.notReloaded = true")
		if eval[bool](t, ctx, on(shard)) {
			was = shard
		}
	}
	to := "shard-rs-3"
	if was == to {
		to = "shard-rs-2"
	}
	// A second tab stays open on the project's page without any input.
	tab, closeTab := chromedp.NewContext(ctx)
	defer closeTab()
	if err := inPage(tab); err != nil { // the tab lives as long as its first context
		t.Fatal(err)
	}
	watcher := &operatorBrowser{T: t, ctx: tab, d: d}
	watcher.open("projects/" + id)
	eval[bool](t, tab, "window.notReloaded = true")

	// Without sizes the risk is high and the name must be typed to confirm.
	d.waitForTable(t, "the sizes of what is pinned", func(table *topology.Table) bool {
		for _, ns := range []topology.Namespace{"yorkie-meta.documents", "yorkie-meta.clients", "yorkie-meta.schemas"} {
			for _, s := range table.Shards {
				if !table.SizeOn(ns, s.Name).Bytes.Known {
					return false
				}
			}
		}
		return true
	})
	o.openForm("pin")
	o.do(chromedp.SetValue("#arg-shard", to))
	o.plan("noisy neighbour", "pin")
	o.run("pin")
	watcher.do(waitUntil(on(to)), waitUntil("!("+on(was)+")"))
	watcher.shots = 50
	watcher.screenshot("project-pinned")
	o.undo("pin")
	watcher.do(waitUntil(on(was)))
	if n := len(d.app.Watcher().Table().Zones); n != 0 {
		d.waitForTable(t, "the zones to be gone", func(table *topology.Table) bool { return len(table.Zones) == 0 })
	}
	o.open("runs")
	o.screenshot("runs")
	bad.check(t)
}
