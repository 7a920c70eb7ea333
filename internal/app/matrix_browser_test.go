package app

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// focused is the text of the cell that has the focus.
const focused = `(document.activeElement.closest("td, th")?.innerText ?? "").split("\n")[0].trim()`

func TestBrowserMovesThroughTheMatrixByKeyboard(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, simcluster.Options{Shards: 6, Projects: 20, Documents: 400}, topology.Options{})
	bad := listenForComplaints(t, ctx)
	err := inPage(ctx, setScreen(1280, "light"), chromedp.Navigate(d.app.URL()+"matrix?sort=name"),
		waitUntil(`document.querySelector('table[role="grid"] [tabindex="0"]') !== null`))
	if err != nil {
		t.Fatal(err)
	}
	if n := eval[int](t, ctx, `document.querySelectorAll('[data-grid] [tabindex="0"]').length`); n != 1 {
		t.Errorf("Tab stops %d times in the grid", n)
	}
	eval[bool](t, ctx, `(document.querySelector('tr[data-key="yorkie-meta.changes"] th a').focus(), true)`)
	cell := func(row, column int) string {
		t.Helper()
		return eval[string](t, ctx, `(() => { const r = document.querySelector("[data-grid]").rows; return r[`+
			itoa(row, "r.length")+`].cells[`+itoa(column, "r[0].cells.length")+`].innerText.split("\n")[0].trim() })()`)
	}
	for _, step := range []struct {
		key         string
		ctrl        bool
		row, column int
	}{
		{"ArrowRight", false, 2, 1}, {"ArrowDown", false, 3, 1}, {"End", false, 3, -1}, {"ArrowRight", false, 3, -1},
		{"Home", false, 3, 0}, {"ArrowUp", false, 2, 0}, {"Home", true, 0, 0}, {"End", true, -1, -1}, {"PageUp", false, -11, -1},
	} {
		if err := inPage(ctx, pressWith(step.key, step.ctrl)); err != nil {
			t.Fatal(err)
		}
		if got, want := eval[string](t, ctx, focused), cell(step.row, step.column); got != want {
			t.Errorf("after %s (ctrl %v) the focus is on %q, not %q", step.key, step.ctrl, got, want)
		}
	}
	// A sort link changes the table in place and keeps the focus.
	eval[bool](t, ctx, `(document.querySelector("[data-grid] thead tr:last-child th:nth-child(3) a").focus(), window.stayed = true)`)
	if err := inPage(ctx, clickFocused(), waitUntil(`document.querySelector('[data-grid] th[aria-sort="descending"]') !== null`)); err != nil {
		t.Fatal(err)
	}
	if !eval[bool](t, ctx, `window.stayed && document.activeElement.closest("th")?.getAttribute("aria-sort") === "descending"`) {
		t.Error("sorting leaves the page or loses the focus")
	}
	// Enter follows the cell's own link.
	eval[bool](t, ctx, `(document.querySelector('tr[data-key="yorkie-meta.changes"] td:nth-child(3) a').focus(), true)`)
	if err := inPage(ctx, clickFocused(), chromedp.WaitVisible("#live-collection")); err != nil {
		t.Fatal(err)
	}
	if at := eval[string](t, ctx, `location.search`); !strings.HasPrefix(at, "?shard=") {
		t.Errorf("the cell leads to %q", at)
	}
	bad.check(t)
}

func TestBrowserScrollsTheMatrixInsideItself(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, simcluster.Options{Shards: 16, Projects: 80, Documents: 400}, topology.Options{})
	bad := listenForComplaints(t, ctx)
	for _, width := range []int64{390, 1280} {
		err := inPage(ctx, setScreen(width, "dark"), chromedp.Navigate(d.app.URL()+"matrix?by=projects&columns=each"),
			waitUntil(`document.querySelectorAll("[data-grid] tbody tr").length > 20`))
		if err != nil {
			t.Fatal(err)
		}
		if n := eval[float64](t, ctx, `document.documentElement.scrollWidth - innerWidth`); n > 0 {
			t.Errorf("at %d the page is %v wider than its window", width, n)
		}
		moved := eval[[]float64](t, ctx, `(() => {
			const box = document.querySelector(".gridbox"), head = box.querySelector("thead"), name = box.querySelector("tbody tr:nth-child(20) th");
			box.scrollTo(600, 400);
			const b = box.getBoundingClientRect();
			return [box.scrollLeft, box.scrollTop, head.getBoundingClientRect().top - b.top, name.getBoundingClientRect().left - b.left];
		})()`)
		if moved[0] < 100 || moved[1] < 100 || moved[2] > 2 || moved[3] > 2 {
			t.Errorf("at %d: scrolled by %v and %v, head at %v, first column at %v", width, moved[0], moved[1], moved[2], moved[3])
		}
	}
	bad.check(t)
}

// itoa is an index in JavaScript; a negative one counts from the end.
func itoa(i int, length string) string {
	if i >= 0 {
		return string(rune('0' + i))
	}
	return length + " - " + map[int]string{-1: "1", -11: "11"}[i]
}

// pressWith presses a key, perhaps with Ctrl.
func pressWith(k string, ctrl bool) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		var with int64
		if ctrl {
			with = 2
		}
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
			event := input.DispatchKeyEventParams{Type: kind, Key: k, Code: k, Modifiers: with}
			if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, event); err != nil {
				return err
			}
		}
		return nil
	})
}

// clickFocused follows the link that has the focus, as Enter does.
func clickFocused() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
			event := input.DispatchKeyEventParams{Type: kind, Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13}
			if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, event); err != nil {
				return err
			}
		}
		return nil
	})
}
