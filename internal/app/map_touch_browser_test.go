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
)

// touch puts fingers on the screen, moves them or, without points, lifts all.
func touch(kind input.DispatchTouchEventType, points ...[2]float64) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		p := input.DispatchTouchEventParams{Type: kind, TouchPoints: []*input.TouchPoint{}}
		for i, at := range points {
			id := float64(i)
			p.TouchPoints = append(p.TouchPoints, &input.TouchPoint{X: at[0], Y: at[1], ID: &id})
		}
		_, err := cdp.Call(ctx, t, input.DispatchTouchEvent, p)
		return err
	})
}

// swipe moves one finger in ten steps.
func swipe(from, to [2]float64) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := touch(input.DispatchTouchEventTypeTouchStart, from)(ctx, t); err != nil {
			return err
		}
		for i := 1; i <= 10; i++ {
			part := float64(i) / 10
			at := [2]float64{from[0] + (to[0]-from[0])*part, from[1] + (to[1]-from[1])*part}
			if _, err := touch(input.DispatchTouchEventTypeTouchMove, at)(ctx, t); err != nil {
				return err
			}
		}
		_, err := touch(input.DispatchTouchEventTypeTouchEnd)(ctx, t)
		return err
	})
}

func TestBrowserMovesTheClusterMapWithFingersOnAPhone(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	bad := listenForComplaints(t, ctx)
	fingers := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 2})
		return err
	})
	if err := inPage(ctx, setScreen(390, "light"), fingers); err != nil {
		t.Fatal(err)
	}
	openMap(t, ctx, d, "map")
	if over := eval[int](t, ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		t.Errorf("the page is %d px wider than the screen", over)
	}
	screenshot(t, ctx, "map-390")
	// The middle of the first collection's row.
	eval[bool](t, ctx, `(document.querySelector("[data-map=canvas]").scrollIntoView({ block: "center" }), true)`)
	box := eval[[]float64](t, ctx, `(() => { const b = document.querySelector("[data-map=canvas]").getBoundingClientRect(); return [b.left, b.top, b.width] })()`)
	x, y := box[0]+box[2]/2, box[1]+70

	// Two fingers zoom in.
	err := inPage(ctx,
		touch(input.DispatchTouchEventTypeTouchStart, [2]float64{x - 20, y}, [2]float64{x + 20, y}),
		touch(input.DispatchTouchEventTypeTouchMove, [2]float64{x - 50, y}, [2]float64{x + 50, y}),
		touch(input.DispatchTouchEventTypeTouchMove, [2]float64{x - 80, y}, [2]float64{x + 80, y}),
		touch(input.DispatchTouchEventTypeTouchEnd), waitUntil(`location.search.includes("from=")`))
	if err != nil {
		t.Fatalf("two fingers zoom nothing: %s", mapView(t, ctx))
	}
	pinched := mapView(t, ctx)
	var from, to float64
	if f := strings.Fields(pinched); len(f) == 5 {
		_, _ = fmt.Sscan(f[2]+" "+f[3], &from, &to)
	}
	if to-from > 0.5 || from > 0.5 || to < 0.5 {
		t.Errorf("four times as far apart, the fingers show %s", pinched)
	}

	// One finger moves it sideways.
	if err := inPage(ctx, swipe([2]float64{x + 60, y}, [2]float64{x - 60, y})); err != nil {
		t.Fatal(err)
	}
	panned := mapView(t, ctx)
	if panned == pinched {
		t.Errorf("a finger that moves sideways moves nothing: %s", panned)
	}

	// One finger that moves up scrolls the page, not the map.
	before := eval[float64](t, ctx, "scrollY")
	err = inPage(ctx, swipe([2]float64{x, y + 60}, [2]float64{x, y - 120}), waitUntil(fmt.Sprintf("scrollY > %v", before)))
	if err != nil {
		t.Errorf("a finger that moves up does not scroll the page: %v", err)
	}
	if got := mapView(t, ctx); got != panned {
		t.Errorf("it moves the map from %s to %s", panned, got)
	}
	screenshot(t, ctx, "map-390-zoomed")
	bad.check(t)
}
