package app

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"shardboard/internal/topology"
	"shardboard/static"
)

// offeredPlan is the first plan beside a selection of the heat map.
const offeredPlan = `#heat-selection a.plan`

// heatCells is where on the screen a part of the cells of the heat map is; x and y are from 0 to 1.
func heatCells(t *testing.T, ctx context.Context, x, y float64) [2]float64 {
	t.Helper()
	const cells = `import(%q).then(({ cellArea }) => {
		const a = cellArea(), c = document.querySelector("[data-heat=canvas]").getBoundingClientRect();
		return [c.left + a.x + a.w * %v, c.top + a.y + a.h * %v].map(Math.round);
	})`
	at := evalMap[[]float64](t, ctx, fmt.Sprintf(cells, static.URL("js/heat_axes.js"), x, y))
	return [2]float64{at[0], at[1]}
}

// dragMouse presses the button, moves and lets go.
func dragMouse(from, to [2]float64) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, step := range []struct {
			kind input.DispatchMouseEventType
			at   [2]float64
		}{{input.DispatchMouseEventTypeMousePressed, from}, {input.DispatchMouseEventTypeMouseMoved, to},
			{input.DispatchMouseEventTypeMouseReleased, to}} {
			_, err := cdp.Call(ctx, t, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: step.kind, X: step.at[0], Y: step.at[1],
				Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// arrivesAtAPlan waits for the form of a plan and checks that what was selected is filled in.
func (o *operatorBrowser) arrivesAtAPlan(href string) {
	o.Helper()
	o.arrives(`location.pathname === "/plans/new" && document.querySelector("form.plan button.main") !== null`)
	for _, pair := range strings.Split(href[strings.Index(href, "?")+1:], "&") {
		name, _, _ := strings.Cut(pair, "=")
		filled := fmt.Sprintf(`[...document.querySelectorAll('form.plan [name="%s"]')].map((e) => e.value).filter((v) => v !== "").join()`, name)
		want := fmt.Sprintf(`new URLSearchParams(location.search).getAll(%q).join()`, name)
		if got, want := eval[string](o.T, o.ctx, filled), eval[string](o.T, o.ctx, want); got != want || got == "" {
			o.Errorf("the form has %s %q, want %q", name, got, want)
		}
	}
	// It needs nothing but the reason.
	o.do(chromedp.SendKeys("form.plan #reason", "Its writes are hot."), chromedp.Click("form.plan button.main"), chromedp.WaitVisible("#plan"))
}

func TestBrowserLeadsFromAPartOfTheHeatMapToItsPlan(t *testing.T) {
	d := startTour(t)
	plan := func(o *operatorBrowser) string {
		o.Helper()
		if err := inPage(o.ctx, waitUntil(fmt.Sprintf(`document.querySelector(%q) !== null`, offeredPlan))); err != nil {
			o.Fatalf("no plan: %s", eval[string](o.T, o.ctx, heatSelection))
		}
		return eval[string](o.T, o.ctx, fmt.Sprintf(`document.querySelector(%q).getAttribute("href")`, offeredPlan))
	}
	open := func(t *testing.T, width int64) *operatorBrowser {
		o := &operatorBrowser{T: t, ctx: newBrowser(t), d: d}
		o.do(setScreen(width, "light"))
		openHeatPage(t, o.ctx, d, "heat?ns="+changes)
		eval[bool](t, o.ctx, `(document.querySelector("[data-heat=canvas]").scrollIntoView({ block: "center" }), true)`)
		return o
	}
	t.Run("by mouse", func(t *testing.T) {
		o := open(t, 1280)
		o.do(dragMouse(heatCells(t, o.ctx, 0.02, 0.01), heatCells(t, o.ctx, 0.98, 0.99)))
		href := plan(o)
		o.do(chromedp.Click(offeredPlan))
		o.arrivesAtAPlan(href)
	})
	t.Run("by touch", func(t *testing.T) {
		o := open(t, 390)
		o.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
			return err
		}))
		// A finger that begins sideways selects, also further down.
		from, to := heatCells(t, o.ctx, 0.02, 0.01), heatCells(t, o.ctx, 0.98, 0.99)
		o.do(touch(input.DispatchTouchEventTypeTouchStart, from),
			touch(input.DispatchTouchEventTypeTouchMove, [2]float64{from[0] + 40, from[1]}),
			touch(input.DispatchTouchEventTypeTouchMove, [2]float64{to[0], from[1] + 20}),
			touch(input.DispatchTouchEventTypeTouchMove, to), touch(input.DispatchTouchEventTypeTouchEnd))
		href := plan(o)
		eval[bool](t, o.ctx, fmt.Sprintf(`(document.querySelector(%q).scrollIntoView({ block: "center" }), true)`, offeredPlan))
		o.do(chromedp.Click(offeredPlan))
		o.arrivesAtAPlan(href)
	})
	t.Run("by keyboard", func(t *testing.T) {
		o := open(t, 1280)
		eval[bool](t, o.ctx, `(document.querySelector("[data-heat=canvas]").focus(), true)`)
		o.do(pressKey("ArrowLeft", "ArrowLeft"))
		for range 12 {
			o.do(pressKey("PageUp", "PageUp"))
		}
		o.do(shiftKey("Home"))
		for range 25 {
			o.do(shiftKey("PageDown"))
		}
		o.do(shiftKey("ArrowDown"), pressKey("Enter", "Enter"))
		o.arrives(`document.activeElement.id === "heat-selected"`)
		href := plan(o)
		o.enter("#heat-selection a.plan", eval[string](t, o.ctx, fmt.Sprintf(`document.querySelector(%q).textContent`, offeredPlan)))
		o.arrivesAtAPlan(href)
	})
}

func TestBrowserDividesMarksOfTheHeatMapWhenZoomedIn(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	d.recordHeat(t, 1)
	if err := inPage(ctx, setScreen(1280, "light")); err != nil {
		t.Fatal(err)
	}
	bad := listenForComplaints(t, ctx)
	openHeatPage(t, ctx, d, "heat?span=1h")
	// Three splits within half a minute, as the API has them.
	const several = `Promise.all([import(%q), import(%q), import(%q)]).then(([{ state }, { setView }, { draw }]) => {
		const at = state.heat.from + 600e3, part = (ms, text) => ({ at: new Date(at + ms).toISOString(), text, url: "/activity?n=" + ms });
		state.heat.marks = [{ ...part(0, "3 splits"), to: new Date(at + 30e3).toISOString(), kind: "split", count: 3,
			parts: [part(0, "First"), part(15e3, "Second"), part(30e3, "Third")] }];
		globalThis.look = (from, to) => setView({ ...state.view, t0: at + from, t1: at + to });
		globalThis.all = () => setView(state.all);
		draw();
		return true;
	})`
	evalMap[bool](t, ctx, fmt.Sprintf(several, static.URL("js/heat_state.js"), static.URL("js/heat_goto.js"), static.URL("js/heat_frame.js")))
	marks := func(want string) {
		t.Helper()
		const shown = `[...document.querySelectorAll("#heat-marks li:not([hidden]) a")].map((a) => a.innerText.split(" · ").pop().trim()).join()`
		text := strings.ReplaceAll(shown, "innerText", "textContent")
		if err := inPage(ctx, waitUntil(text+" === "+fmt.Sprintf("%q", want))); err != nil {
			t.Fatalf("the marks are %q, want %q", eval[string](t, ctx, text), want)
		}
	}
	marks("3 splits")
	eval[bool](t, ctx, `(document.querySelector("#heat-marks a").focus(), look(-60e3, 240e3), true)`)
	marks("First,Second,Third")
	eval[bool](t, ctx, `(document.querySelector("#heat-marks li:last-child a").focus(), true)`)
	if at := eval[string](t, ctx, `document.activeElement.getAttribute("href")`); at != "/activity?n=30000" {
		t.Errorf("a part leads to %q", at)
	}
	eval[bool](t, ctx, `(all(), true)`)
	marks("3 splits")
	if !eval[bool](t, ctx, `document.activeElement === document.querySelector("#heat-marks a")`) {
		t.Error("the focus of a part does not pass to its mark")
	}
	bad.check(t)
}
