package app

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
)

// startTour starts a dashboard in the mode of `shardboard demo`, over a cluster in which two documents
// on one shard got most writes of the last minutes.
func startTour(t *testing.T) *demo {
	t.Helper()
	d := startWithActions(t, quietCluster())
	d.stop(t)
	d.config.Auth.Mode = "demo"
	a, err := New(t.Context(), d.config)
	must.Do(t, err)
	past := a.Past(time.Now)
	must.Do(t, past.Observe(t.Context()))
	writes := d.writesToOneShard(t, past)
	end := time.Now().Truncate(time.Minute)
	for at := end.Add(-20 * time.Minute); at.Before(end); at = at.Add(time.Minute) {
		past.Wrote(changes, at, writes)
	}
	must.Do(t, past.End())
	a.Start()
	d.app = a
	d.waitReady(t)
	go d.keepWriting(t.Context(), writes)
	return d
}

// keepWriting adds rows to the documents with many of them, so that they are hot for as long as the test takes.
func (d *demo) keepWriting(ctx context.Context, writes []PastWrites) {
	all := d.driver.Database("yorkie-meta").Collection("changes")
	for seq := int64(1 << 40); ctx.Err() == nil; time.Sleep(time.Second) {
		var rows []any
		for _, w := range writes {
			for range w.Rows / 10 {
				seq++
				rows = append(rows, bson.D{{Key: "_id", Value: bson.NewObjectID()}, {Key: "project_id", Value: bson.ObjectID(w.Project)},
					{Key: "doc_id", Value: bson.ObjectID(w.Document)}, {Key: "server_seq", Value: seq}, {Key: "actor_id", Value: bson.NewObjectID()}})
			}
		}
		_, _ = all.InsertMany(ctx, rows) // fails in the end, with the context
	}
}

// writesToOneShard are some writes to each document, and many to two documents of one project in chunks of one shard.
func (d *demo) writesToOneShard(t *testing.T, past *Past) (out []PastWrites) {
	t.Helper()
	docs := d.documents(t)
	c := past.Table().Collection(changes)
	first := map[bson.ObjectID]int{} // position in out of each project's first document on the first shard
	chunkOf := map[int]shardkey.Key{}
	hot := false
	for i, doc := range docs {
		out = append(out, PastWrites{Project: doc.Project, Document: doc.ID, Rows: 1})
		key := must.Get(c.Key.KeyOf(placement.ObjectIDValue(doc.ID)))
		_, chunk := c.Chunks.Find(key)
		if hot || chunk.Shard != past.Table().Shards[0].Name {
			continue
		}
		chunkOf[i] = chunk.Min
		other, found := first[doc.Project]
		switch {
		case !found:
			first[doc.Project] = i
		case chunkOf[other].Compare(chunk.Min) != 0:
			out[other].Rows, out[i].Rows, hot = 600, 600, true
		}
	}
	must.That(t, hot, "no two documents of one project are in different chunks of the first shard")
	return out
}

// writesToOneChunk are writes to some documents of one chunk.
func (d *demo) writesToOneChunk(t *testing.T) (out []PastWrites) {
	t.Helper()
	c := d.app.Watcher().Table().Collection(changes)
	_, hot := c.Chunks.Find(must.Get(c.Key.KeyOf(placement.ObjectIDValue(d.documents(t)[0].ID))))
	for _, doc := range d.documents(t) {
		if len(out) == 20 {
			break
		}
		if _, chunk := c.Chunks.Find(must.Get(c.Key.KeyOf(placement.ObjectIDValue(doc.ID)))); chunk.Min.Compare(hot.Min) == 0 {
			out = append(out, PastWrites{Project: doc.Project, Document: doc.ID, Rows: 10})
		}
	}
	return out
}

// storedDocument is a document of the cluster.
type storedDocument struct {
	ID      bson.ObjectID `bson:"_id"`
	Project bson.ObjectID `bson:"project_id"`
}

func (d *demo) documents(t *testing.T) (out []storedDocument) {
	t.Helper()
	cursor, err := d.driver.Database("yorkie-meta").Collection("documents").Find(t.Context(), bson.D{})
	if err == nil {
		err = cursor.All(t.Context(), &out)
	}
	must.Do(t, err)
	return out
}

// step waits for a step of the tour on a page; focused tells whether the step has the focus, so that a screen reader
// reads it.
func (o *tab) step(title, path string, focused bool) {
	o.Helper()
	o.until(`location.pathname.startsWith(%q) && document.querySelector("#tour-title")?.textContent.startsWith(%q) && `+opened, path, title)
	if focused {
		o.until(`document.activeElement?.id === "tour-step"`)
	}
	o.fits()
	o.accessible("step "+title, allRules)
}

func TestBrowserTakesTheWholeTourByKeyboard(t *testing.T) {
	needBrowser(t)
	eachWidth(t, startTour(t), func(o *tab, width int64) {
		// Escape is the tour's key on its step only. A tour that was skipped can be taken later.
		o.open("")
		o.press("Escape")
		o.until(`document.activeElement === document.body && document.querySelector("#tour-step")`)
		o.focus("#tour-step button")
		o.press("Escape")
		o.until(`!document.querySelector("#tour-step") && document.activeElement?.id === "main"`)
		for _, page := range []string{"heat", "zones", ""} {
			o.open(page)
			o.is("false", `String(Boolean(document.querySelector("#tour-step")))`)
		}
		o.follow(`main .banner a[href="/tour"]`, "/tour")
		o.click(`main form[action="/tour"] button.main`)
		o.step("Overview", "/", true)

		o.enter("#tour-step button", "Next: Locate")
		o.step("Locate", "/locate", true)
		o.enter("#tour-step button", "Next: Heat")
		o.step("Heat", "/heat", true)
		o.do(chromedp.Reload())
		o.step("Heat", "/heat", false) // a reload keeps the step
		o.enter("#tour-step button", "Next: Plan")
		o.step("Plan", "/plans/new", true)
		runs := func(title string) {
			o.until(`document.querySelector("#plan .confirm button.main")?.checkVisibility()`)
			o.enter("#plan .confirm button.main", "")
			o.until(`document.querySelector("#live-run:not(.is-open)")`)
			o.step(title, "/runs/", false)
		}
		o.enter("form.plan button.main", "")
		o.until(`location.pathname !== "/plans/new"`)
		o.step("Plan", "/plans/", false)
		runs("Proof")
		run := eval[string](o, "location.pathname")
		o.enter("#tour-step button", "Next: Undo")
		o.step("Undo", run, true)
		o.enter("form.undo button", "")
		runs("Undo")
		var first struct{ State string }
		o.d.getJSON(o, "api/v1"+run, &first)
		expect.Equal(o, first.State, "undone", "the tour's run")
		o.enter("#tour-step button", "End the tour")
		o.until(`!document.querySelector("#tour-step") && document.activeElement?.id === "main"`)
		o.open("")
		o.is("false", `String(Boolean(document.querySelector("#tour-step")))`)
	})
}
