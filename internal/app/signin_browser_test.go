package app

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"shardboard/internal/topology"
)

// The first admin uses the printed link and the forms, opens two pages and signs out,
// which closes both.
func TestBrowserSignsInAndLeavesPagesAfterSignOut(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	d.stop(t)
	d.config.Auth, d.config.DataDir = Auth{Mode: "local"}, t.TempDir()
	d.serve(t)
	d.waitReady(t)
	link, err := d.app.current().auth.FirstLink(ctx)
	if err != nil || link == "" {
		t.Fatal(link, err)
	}
	at := func() string { return eval[string](t, ctx, "location.pathname + location.search") }
	page := strings.TrimSuffix(d.app.URL(), "/")

	// Anonymous: every page leads to sign-in.
	if err := inPage(ctx, setScreen(390, "dark"), chromedp.Navigate(page+"/zones"), chromedp.WaitVisible("main h1")); err != nil {
		t.Fatal(err)
	}
	if got := at(); got != "/login?next=%2Fzones" {
		t.Errorf("an anonymous visitor ends at %s", got)
	}
	// Screen readers announce a refusal first, because it has the focus.
	fill := func(name, password string) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := chromedp.Evaluate[bool](`(() => { document.getElementById("name").value = "`+name+`";
				document.getElementById("password").value = "`+password+`"; return true })()`)(ctx, t)
			return err
		})
	}
	if err := inPage(ctx, fill("nobody", "something or other"), chromedp.Click("form.stacked button"),
		chromedp.WaitVisible("[role=alert]")); err != nil {
		t.Fatal(err)
	}
	if !eval[bool](t, ctx, `document.activeElement === document.querySelector("[role=alert]")`) {
		t.Error("the refusal does not have the focus")
	}

	const password = "correct horse battery"
	if err := inPage(ctx, chromedp.Navigate(page+link), chromedp.WaitVisible("#name"), fill("root", password),
		chromedp.Click("form.stacked button"), chromedp.WaitVisible("#users")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/settings", "/settings/users", "/login/first?key=x"} {
		for _, width := range []int64{1280, 390} {
			if err := inPage(ctx, setScreen(width, "light"), chromedp.Navigate(page+path), chromedp.WaitVisible("main h1")); err != nil {
				t.Fatal(err)
			}
			if over := eval[int](t, ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
				t.Errorf("%s at %d: %d px wider than the screen", path, width, over)
			}
		}
	}

	// An open page is left when its session ends in another tab.
	if err := inPage(ctx, chromedp.Navigate(page+"/collections"), chromedp.WaitVisible("main h1"),
		waitUntil(`["ok", "warn", "critical"].includes(document.getElementById("status").dataset.level)`)); err != nil {
		t.Fatal(err)
	}
	d.waitForSocket(t)
	eval[bool](t, ctx, `fetch("/logout", {method: "POST"}).then(() => true) && true`)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		// Evaluating the script fails during a navigation.
		there, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`location.pathname === "/login" && document.getElementById("name") !== null`))
		if err == nil && there {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the page is not left: %v", err)
		}
	}
	if got := at(); got != "/login?ended=1&next=%2Fcollections" {
		t.Errorf("after sign-out the page is %s", got)
	}
	if err := inPage(ctx, fill("root", password), chromedp.Click("form.stacked button"),
		chromedp.WaitVisible("header .you")); err != nil {
		t.Fatal(err)
	}
	if got := at(); got != "/collections" {
		t.Errorf("after signing in again the page is %s", got)
	}
}
