package app

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"shardboard/internal/topology"
)

func mouse(kind input.DispatchMouseEventType, x, y float64) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.DispatchMouseEvent,
			input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, ClickCount: 1})
		return err
	})
}

func TestBrowserChoosesATimeByDraggingAndByKeyboard(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	const narrowed = `location.search.includes("from=") && location.search.includes("to=") && document.readyState === "complete"`
	open := func(width int64) {
		t.Helper()
		if err := inPage(ctx, setScreen(width, "light"), chromedp.Navigate(d.app.URL()+"activity?kind=all&last=1h"),
			chromedp.WaitVisible(".histogram a")); err != nil {
			t.Fatal(err)
		}
		if over := eval[int](t, ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
			t.Errorf("at %d px the page is %d px wider than the window", width, over)
		}
	}
	waitNarrowed := func() { // the page changes meanwhile
		t.Helper()
		waitInPage(t, func() (bool, error) {
			there, err := chromedp.Run(ctx, chromedp.Evaluate[bool](narrowed))
			return there && err == nil, nil
		})
	}
	open(390)
	screenshot(t, ctx, "activity-390")
	open(1280)
	const box = `(document.querySelector(".histogram svg").getBoundingClientRect())`
	left, top := eval[float64](t, ctx, box+".left"), eval[float64](t, ctx, box+".top")+20
	right := eval[float64](t, ctx, box+".right")
	if err := inPage(ctx, mouse(input.DispatchMouseEventTypeMousePressed, left+2, top),
		mouse(input.DispatchMouseEventTypeMouseMoved, (left+right)/2, top), mouse(input.DispatchMouseEventTypeMouseMoved, right-2, top),
		mouse(input.DispatchMouseEventTypeMouseReleased, right-2, top)); err != nil {
		t.Fatalf("dragging: %v", err)
	}
	waitNarrowed()
	open(1280)
	whole := eval[string](t, ctx, `(() => { const a = [...document.querySelectorAll(".histogram a")]; a[0].focus();
		const at = (x, name) => new URL(x.href.baseVal, location.href).searchParams.get(name);
		return [a.length > 1, at(a[0], "from"), at(a.at(-1), "to")].join() })()`)
	eval[bool](t, ctx, `(() => { const n = document.querySelectorAll(".histogram a").length;
		const press = (key, shiftKey) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true }));
		for (let i = 1; i < n; i++) press("ArrowRight", true);
		return n < 2 ? (document.activeElement.dispatchEvent(new MouseEvent("click", { bubbles: true })), true) : press("Enter", false) || true })()`)
	waitNarrowed()
	got := eval[string](t, ctx, `(() => { const q = new URL(location.href).searchParams; return [q.get("from"), q.get("to")].join() })()`)
	if want := fmt.Sprint(whole[len(whole)-len(got):]); got != want {
		t.Errorf("chosen %s, want %s", got, want)
	}
	bad.check(t)
}
