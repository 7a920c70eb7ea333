package app

import (
	"testing"

	"github.com/chromedp/chromedp"

	"shardboard/internal/auth"
	"shardboard/internal/topology"
)

// When the role changes, an open page's socket closes and the page reloads with the new
// role, still signed in.
func TestBrowserStaysSignedInAfterAChangeOfRole(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	d.stop(t)
	d.config.Auth, d.config.DataDir = Auth{Mode: "local", Cost: auth.Cost{Memory: 64, Time: 1}}, t.TempDir()
	d.serve(t)
	d.waitReady(t)
	const password = "correct horse battery"
	if _, err := d.app.current().auth.CreateUser(ctx, auth.Console(),
		auth.NewUser{Name: "anna", Password: password, Role: auth.Viewer}); err != nil {
		t.Fatal(err)
	}
	if err := inPage(ctx, chromedp.Navigate(d.app.URL()+"login?next=%2Fcollections"), chromedp.WaitVisible("#name"),
		chromedp.SendKeys("#name", "anna"), chromedp.SendKeys("#password", password), chromedp.Click("form.stacked button")); err != nil {
		t.Fatal(err)
	}
	waitInPage(t, func() (bool, error) {
		return chromedp.Run(
			ctx,
			chromedp.Evaluate[bool](
				`location.pathname === "/collections" && ["ok", "warn", "critical"].includes(document.getElementById("status")?.dataset.level)`,
			),
		)
	})
	d.waitForSocket(t)
	eval[bool](t, ctx, `(window.before = true)`)
	if err := d.app.current().auth.SetRole(ctx, auth.Console(), "anna", auth.Admin); err != nil {
		t.Fatal(err)
	}
	waitInPage(t, func() (bool, error) {
		return chromedp.Run(
			ctx,
			chromedp.Evaluate[bool](
				`!window.before && location.pathname === "/collections" && ["ok", "warn", "critical"].includes(document.getElementById("status")?.dataset.level)`,
			),
		)
	})
	if err := inPage(ctx, chromedp.Navigate(d.app.URL()+"settings/users"), chromedp.WaitVisible("#users")); err != nil {
		t.Error("the page does not show the admin's links:", err)
	}
}

// The content security policy would block a form that is redirected to another site, so
// this needs a browser.
func TestBrowserReachesTheIssuerByAClickAndReturns(t *testing.T) {
	ctx := newBrowser(t)
	d := startDemo(t, quietCluster(), topology.Options{})
	i := newIssuerServer(t, "oncall")
	i.Start()
	a := d.startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), Auth: Auth{Mode: "oidc",
		OIDC: OIDC{Issuer: i.URL, ClientID: "board", Roles: map[string]string{"oncall": "operator"}}}})
	if err := inPage(ctx, chromedp.Navigate(a.URL()+"login?next=%2Fzones"),
		chromedp.Click("form[action='/login/oidc'] button")); err != nil {
		t.Fatal(err)
	}
	waitInPage(t, func() (bool, error) {
		return chromedp.Run(ctx, chromedp.Evaluate[bool](`location.pathname === "/zones" && document.querySelector("header .you") !== null`))
	})
}
