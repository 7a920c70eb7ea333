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

	"shardboard/internal/topology"
	"shardboard/static"
)

const (
	heatReadout   = `document.getElementById("heat-readout").textContent`
	heatSelection = `document.getElementById("heat-selection").textContent`
)

// shiftKey presses a key with Shift held.
func shiftKey(k string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
			p := input.DispatchKeyEventParams{Type: kind, Key: k, Code: k, Modifiers: 8}
			if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// heatPageForSelection is the page with eight hours of recorded writes and the canvas focused.
func heatPageForSelection(t *testing.T) (context.Context, *demo) {
	t.Helper()
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	d.recordHeat(t, 8)
	if err := inPage(ctx, setScreen(1280, "light")); err != nil {
		t.Fatal(err)
	}
	openHeatPage(t, ctx, d, "heat")
	eval[bool](t, ctx, `(document.querySelector("[data-heat=canvas]").focus(), true)`)
	return ctx, d
}

func TestBrowserSelectsInTheHeatMapByKeyboard(t *testing.T) {
	ctx, d := heatPageForSelection(t)
	bad := listenForComplaints(t, ctx)
	err := inPage(ctx, pressKey("ArrowLeft", "ArrowLeft"), pressKey("ArrowUp", "ArrowUp"), waitUntil(heatReadout+`.includes("UTC")`))
	if err != nil {
		t.Fatalf("the arrow keys choose no cell: %v, %s", err, eval[string](t, ctx, heatReadout))
	}
	was := eval[string](t, ctx, heatReadout)
	if !strings.Contains(was, "writes/s") || !strings.Contains(was, "shard-rs-") {
		t.Errorf("the cell's text is %q, expected its writes and its shard", was)
	}
	err = inPage(ctx, shiftKey("ArrowLeft"), shiftKey("ArrowUp"), shiftKey("ArrowUp"), waitUntil(heatReadout+`.startsWith("Rows selected: 3")`))
	if err != nil {
		t.Fatalf("Shift and arrows select %q", eval[string](t, ctx, heatReadout))
	}
	// New data comes while Enter reads the page: the page is read once more, and the focus waits for it.
	evalMap[bool](t, ctx, fmt.Sprintf(`import(%q).then(({ refreshPage }) => {
		document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
		refreshPage();
		return true;
	})`, static.URL("js/heat_page.js")))
	err = inPage(ctx, waitUntil(`document.activeElement.id === "heat-selected"`))
	if err != nil {
		t.Fatalf("Enter does not focus what is selected: %v", err)
	}
	for _, want := range []string{"Chunks ", "writes, ", "of all counted in the collection in this time"} {
		if text := eval[string](t, ctx, heatSelection); !strings.Contains(text, want) {
			t.Errorf("the selection lacks %q: %s", want, text)
		}
	}
	// A link keeps the selection, and its chunks are pages.
	address := strings.TrimPrefix(eval[string](t, ctx, "location.pathname + location.search"), "/")
	if res, body := d.get(t, address); res.StatusCode != 200 || !strings.Contains(string(body), `id="heat-selected"`) {
		t.Errorf("%s: %s", address, res.Status)
	}
	at := eval[string](t, ctx, `document.querySelector("#heat-selection .thirds a").getAttribute("href")`)
	if res, _ := d.get(t, strings.TrimPrefix(at, "/")); res.StatusCode != 200 {
		t.Errorf("%s: unexpected status: %s", at, res.Status)
	}
	// Escape gives it up.
	eval[bool](t, ctx, `(document.querySelector("[data-heat=canvas]").focus(), true)`)
	if err := inPage(ctx, pressKey("Escape", "Escape"), waitUntil(heatSelection+`.trim() === "" && location.search === ""`)); err != nil {
		t.Errorf("Escape keeps the selection: %v", err)
	}
	bad.check(t)
}

func TestBrowserSelectsInTheHeatMapByDragging(t *testing.T) {
	ctx, _ := heatPageForSelection(t)
	bad := listenForComplaints(t, ctx)
	box := eval[[]float64](t, ctx, `(() => { const r = document.querySelector("[data-heat=canvas]").getBoundingClientRect();
		return [r.left, r.top, r.width, r.height]; })()`)
	mouse := func(kind input.DispatchMouseEventType, x, y float64) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: box[0] + x*box[2],
				Y: box[1] + y*box[3], Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
			return err
		})
	}
	err := inPage(ctx, mouse(input.DispatchMouseEventTypeMousePressed, 0.4, 0.2), mouse(input.DispatchMouseEventTypeMouseMoved, 0.5, 0.4),
		mouse(input.DispatchMouseEventTypeMouseMoved, 0.6, 0.5), mouse(input.DispatchMouseEventTypeMouseReleased, 0.6, 0.5),
		waitUntil(heatSelection+`.includes("of all counted")`))
	if err != nil {
		t.Fatalf("dragging selects nothing: %v, %s", err, eval[string](t, ctx, heatSelection))
	}
	// New data takes neither the selection nor the focus of a link in it away.
	title := eval[string](t, ctx, `document.getElementById("heat-selected").textContent`)
	eval[bool](t, ctx, `(document.querySelector("#heat-selection .thirds a").focus(), globalThis.was = document.activeElement, true)`)
	eval[bool](t, ctx, `(document.dispatchEvent(new Event("visibilitychange")), true)`)
	if err := inPage(ctx, waitUntil(`performance.getEntriesByType("resource").filter((e) => e.name.includes("/heat?")).length > 1`)); err != nil {
		t.Fatal(err)
	}
	if !eval[bool](t, ctx, `document.activeElement === globalThis.was`) {
		t.Error("new data takes the focus away")
	}
	if now := eval[string](t, ctx, `document.getElementById("heat-selected").textContent`); now != title {
		t.Errorf("new data selects %q instead of %q", now, title)
	}
	bad.check(t)
}

func TestBrowserReachesTheMarksOfTheHeatMapByKeyboard(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	chunk := d.app.Watcher().Table().Collection(changes).Chunks.At(2)
	key := d.app.Watcher().Table().Collection(changes).Key
	lower, err := key.Document(chunk.Min)
	if err != nil {
		t.Fatal(err)
	}
	upper, err := key.Document(chunk.Max)
	if err != nil {
		t.Fatal(err)
	}
	to := "shard-rs-1"
	if chunk.Shard == to {
		to = "shard-rs-2"
	}
	d.admin(t, bson.D{{Key: "moveChunk", Value: changes}, {Key: "bounds", Value: bson.A{lower, upper}}, {Key: "to", Value: to}})
	d.recordHeatUntil(t, 2, time.Now().Truncate(time.Minute).Add(time.Minute)) // with the minute of the move
	if err := inPage(ctx, setScreen(1280, "light")); err != nil {
		t.Fatal(err)
	}
	bad := listenForComplaints(t, ctx)
	openHeatPage(t, ctx, d, "heat?span=1h")
	const marks = `[...document.querySelectorAll("#heat-marks li:not([hidden]) a")]`
	const ready = marks + `.length > 0 && ` + marks + `.filter((a) => a.tabIndex === 0).length === 1`
	if err := inPage(ctx, waitUntil(ready)); err != nil {
		t.Fatalf("the move's mark is not reachable: %v, %s", err,
			eval[string](t, ctx, `document.getElementById("heat-marks").outerHTML.slice(0, 500)`))
	}
	eval[bool](t, ctx, fmt.Sprintf(`(%s.find((a) => a.tabIndex === 0).focus(), true)`, marks))
	if err := inPage(ctx, pressKey("Home", "Home"), waitUntil(`document.activeElement === `+marks+`[0]`)); err != nil {
		t.Errorf("Home does not lead to the first mark: %v", err)
	}
	if at := eval[string](t, ctx, `document.activeElement.getAttribute("href")`); !strings.HasPrefix(at, "/collections/"+changes+"/chunks/") {
		t.Errorf("a mark leads to %q", at)
	}
	bad.check(t)
}
