package app

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"

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
	if err != nil {
		t.Fatal(err)
	}
	past := a.Past(time.Now)
	if err := past.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	writes := d.writesToOneShard(t, past)
	end := time.Now().Truncate(time.Minute)
	for at := end.Add(-20 * time.Minute); at.Before(end); at = at.Add(time.Minute) {
		past.Wrote(changes, at, writes)
	}
	if err := past.End(); err != nil {
		t.Fatal(err)
	}
	a.Start()
	d.app = a
	d.waitReady(t)
	return d
}

// writesToOneShard are some writes to each document, and many to two documents in chunks of one shard.
func (d *demo) writesToOneShard(t *testing.T, past *Past) (out []PastWrites) {
	t.Helper()
	var docs []struct {
		ID      bson.ObjectID `bson:"_id"`
		Project bson.ObjectID `bson:"project_id"`
	}
	cursor, err := d.driver.Database("yorkie-meta").Collection("documents").Find(t.Context(), bson.D{})
	if err == nil {
		err = cursor.All(t.Context(), &docs)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := past.Table().Collection(changes)
	var first *shardkey.Key
	hot := 0
	for _, doc := range docs {
		rows := int64(1)
		key, err := c.Key.KeyOf(placement.ObjectIDValue(doc.ID))
		if err != nil {
			t.Fatal(err)
		}
		_, chunk := c.Chunks.Find(key)
		if chunk.Shard == past.Table().Shards[0].Name && hot < 2 && (first == nil || first.Compare(chunk.Min) != 0) {
			first, rows, hot = &chunk.Min, 600, hot+1
		}
		out = append(out, PastWrites{Project: doc.Project, Document: doc.ID, Rows: rows})
	}
	if hot < 2 {
		t.Fatal("no two documents are in different chunks of the first shard")
	}
	return out
}

// press presses and releases a key as a keyboard does.
func press(key string, code int64, text string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
			p := input.DispatchKeyEventParams{Type: kind, Key: key, Code: key, WindowsVirtualKeyCode: code}
			if kind == input.DispatchKeyEventTypeKeyDown {
				p.Text = text
			}
			if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// enter tabs to the first button of a selector that says a text, and presses it with the Enter key.
func (o *operatorBrowser) enter(selector, text string) {
	o.Helper()
	is := fmt.Sprintf(`document.activeElement.matches(%q) && document.activeElement.textContent.includes(%q)`, selector, text)
	for range 250 {
		o.do(press("Tab", 9, ""))
		if eval[bool](o.T, o.ctx, is) {
			o.do(press("Enter", 13, "\r"))
			return
		}
	}
	o.Fatalf("no Tab leads to %s %q on %s", selector, text, eval[string](o.T, o.ctx, "location.pathname"))
}

// step waits for a step of the tour on a page; focused tells whether the step has the focus, so that a
// screen reader reads it. axe-core finds nothing on the page.
func (o *operatorBrowser) step(axe, title, path string, focused bool) {
	o.Helper()
	o.arrives(fmt.Sprintf(`location.pathname.startsWith(%q) && document.readyState === "complete" &&
		document.querySelector("#tour-title")?.textContent.startsWith(%q) === true`, path, title))
	if focused {
		o.arrives(`document.activeElement?.id === "tour-step"`)
	}
	if over := eval[int](o.T, o.ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		o.Errorf("%s with a step is %d px wider than its window", path, over)
	}
	found, err := violations(o.ctx, axe, `{resultTypes: ["violations"]}`)
	if err != nil || len(found) > 0 {
		o.Errorf("step %s on %s: %v\n%s", title, path, err, strings.Join(found, "\n"))
	}
	o.screenshot("tour-" + strings.ToLower(title))
}

// runEnds waits until the run that is shown has ended.
func (o *operatorBrowser) runEnds() {
	o.Helper()
	o.do(chromedp.WaitVisible("#live-run"), waitUntil(`!document.querySelector("#live-run").classList.contains("is-open")`))
}

func TestBrowserTakesTheWholeTourByKeyboard(t *testing.T) {
	d := startTour(t)
	axe := axeScript(t)
	eachWidth(t, d, func(o *operatorBrowser, width int64) {
		o.open("")
		o.step(axe, "Overview", "/", false)
		o.enter("#tour-step button", "Next: Locate")
		o.step(axe, "Locate", "/locate", true)
		o.enter("#tour-step button", "Next: Heat")
		o.step(axe, "Heat", "/heat", true)
		o.do(chromedp.Reload())
		o.step(axe, "Heat", "/heat", false) // a reload keeps the step
		o.enter("#tour-step button", "Next: Plan")
		o.step(axe, "Plan", "/plans/new", true)
		o.enter("form.plan button.main", "")
		o.arrives(`document.querySelector("#plan .confirm button.main")?.checkVisibility()`)
		o.step(axe, "Plan", "/plans/", false)
		o.enter("#plan .confirm button.main", "")
		o.runEnds()
		o.step(axe, "Proof", "/runs/", false)
		run := eval[string](o.T, o.ctx, "location.pathname")
		o.enter("#tour-step button", "Next: Undo")
		o.step(axe, "Undo", run, true)
		o.enter("form.undo button", "")
		o.arrives(`document.querySelector("#plan .confirm button.main")?.checkVisibility()`)
		o.enter("#plan .confirm button.main", "")
		o.runEnds()
		o.step(axe, "Undo", "/runs/", false)
		var first struct{ State string }
		o.d.getJSON(o.T, "api/v1"+run, &first)
		if first.State != "undone" {
			o.Errorf("the tour's run is %s", first.State)
		}
		o.enter("#tour-step button", "End the tour")
		o.arrives(`!document.querySelector("#tour-step") && document.activeElement?.id === "main"`)
		o.open("")
		if eval[bool](o.T, o.ctx, `Boolean(document.querySelector("#tour-step"))`) {
			o.Error("the tour comes back after its end")
		}
	})
}

func TestBrowserSkipsTheTourByEscape(t *testing.T) {
	d := startTour(t)
	eachWidth(t, d, func(o *operatorBrowser, width int64) {
		o.open("")
		o.do(press("Escape", 27, "")) // elsewhere it is not the tour's key
		o.do(waitUntil(`document.activeElement === document.body && Boolean(document.querySelector("#tour-step"))`))
		o.do(chromedp.Focus("#tour-step button"), press("Escape", 27, ""))
		o.arrives(`!document.querySelector("#tour-step") && document.activeElement?.id === "main"`)
		for _, page := range []string{"", "heat", "zones"} {
			o.open(page)
			if eval[bool](o.T, o.ctx, `Boolean(document.querySelector("#tour-step"))`) {
				o.Errorf("/%s shows the tour that was skipped", page)
			}
		}
		o.follow(`main .banner a[href="/tour"]`, "/tour")
		o.do(chromedp.Click(`main form[action="/tour"] button.main`))
		o.arrives(`location.pathname === "/" && document.activeElement?.id === "tour-step"`)
	})
}
