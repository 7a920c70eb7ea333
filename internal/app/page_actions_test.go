package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/chromedp"
)

// inPage runs actions in a page, one after the other. A page may replace its document or a
// live region after an action has found its element and before it uses it. The browser then
// says that the element is gone; nothing was clicked or typed, so the action is tried again.
func inPage(ctx context.Context, actions ...chromedp.Action[chromedp.Void]) error {
	if len(actions) == 0 {
		return chromedp.Do(ctx) // starts the browser or the tab
	}
	for _, action := range actions {
		for try := 1; ; try++ {
			err := chromedp.Do(ctx, action)
			if err == nil {
				break
			}
			if try == 10 || !elementGone(err) {
				return err
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return nil
}

// elementGone reports whether an action failed because its element is no longer in the page.
func elementGone(err error) bool {
	var refused *cdproto.Error
	if !errors.As(err, &refused) {
		return false
	}
	return containsAny(refused.Message,
		"Could not find node", "No node with given id", "detached from document", "does not belong to the document")
}

// pageLeft reports whether a script did not run to its end because the page was left for another.
func pageLeft(err error) bool {
	return containsAny(err.Error(), "Cannot find context", "Cannot find default execution context",
		"Execution context was destroyed", "navigated or closed")
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// eval runs JavaScript in the page, or in the page that comes when this one is just being left.
func eval[T any](t testing.TB, ctx context.Context, js string) T {
	t.Helper()
	for try := 1; ; try++ {
		v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js))
		if err == nil {
			return v
		}
		if try == 10 || !pageLeft(err) {
			t.Fatalf("%s: unexpected error: %v", js, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// follow clicks the first visible link of a selector, whose address must begin with a path, and waits for its page.
// It clicks again when the page was drawn anew under the click.
func (o *operatorBrowser) follow(selector, path string) {
	o.Helper()
	// The middle of the link, when nothing lies over it. leaving tells the page that is left from the next one.
	place := fmt.Sprintf(`(() => {
		const link = [...document.querySelectorAll(%q)].find(e => e.checkVisibility());
		if (!link) return [];
		window.leaving = true;
		link.scrollIntoView({block: "center"});
		const box = link.getClientRects()[0];
		const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
		return link.contains(document.elementFromPoint(x, y)) ? [x, y] : [];
	})()`, selector)
	arrived := fmt.Sprintf(`location.pathname.startsWith(%q) && document.readyState === "complete" && window.leaving === undefined`, path)
	clicked := time.Time{}
	waitInPage(o.T, func() (bool, error) {
		there, err := chromedp.Run(o.ctx, chromedp.Evaluate[bool](arrived))
		if err != nil || there && !clicked.IsZero() || time.Since(clicked) < 5*time.Second {
			return there, err
		}
		at, err := chromedp.Run(o.ctx, chromedp.Evaluate[[]float64](place))
		if err != nil || len(at) < 2 {
			return false, err
		}
		clicked = time.Now()
		return false, chromedp.Do(o.ctx, chromedp.MouseClickXY(at[0], at[1]))
	})
	o.do(chromedp.WaitVisible("main h1"))
}

// waitInPage waits until something is true of the page, also while the page is being left for another.
func waitInPage(t *testing.T, there func() (bool, error)) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		ok, err := there()
		if err == nil && ok {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the page is not reached: %v", err)
		}
	}
}
