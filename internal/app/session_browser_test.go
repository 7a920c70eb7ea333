package app

import (
	"strings"
	"testing"

	"shardboard/internal/auth"
)

// TestBrowserFollowsItsSession has a page open while the role of its user changes and while the user signs out
// elsewhere.
func TestBrowserFollowsItsSession(t *testing.T) {
	needBrowser(t)
	d := startWithLocalUsers(t)
	accounts := d.app.current().auth
	if _, err := accounts.CreateUser(t.Context(), auth.Console(),
		auth.NewUser{Name: "anna", Password: password, Role: auth.Viewer}); err != nil {
		t.Fatal(err)
	}
	o := newTab(t, d, 390)
	o.expect("status of 401", "status of 403", "WebSocket")

	// Anonymous: every page leads to sign-in. Screen readers announce a refusal first, because it has the focus.
	o.open("zones")
	o.is("/login?next=%2Fzones", "location.pathname + location.search")
	o.signIn("nobody", "something or other")
	o.until(`document.querySelector("[role=alert]") && document.activeElement === document.querySelector("[role=alert]")`)
	o.signIn("anna", password)
	o.is("/zones", "location.pathname")

	// The role changes: the socket closes and the page reloads with the new role, still signed in.
	o.open("collections")
	o.run("window.leaving_ = true")
	if err := accounts.SetRole(t.Context(), auth.Console(), "anna", auth.Admin); err != nil {
		t.Fatal(err)
	}
	o.arrive("/collections")
	o.open("settings/users")
	o.until(`document.querySelector("#users")?.checkVisibility()`)

	// An open page is left when its session ends in another tab, and is there again after sign-in.
	o.open("collections")
	o.run("window.leaving_ = true")
	other := o.another()
	other.expect("status of 401", "WebSocket")
	other.open("settings")
	other.follow(`form[action="/logout"] button`, "/login")
	o.arrive("/login")
	o.is("/login?ended=1&next=%2Fcollections", "location.pathname + location.search")
	o.signIn("anna", password)
	o.is("/collections", "location.pathname")
}

// The content security policy would block a form that is redirected to another site, so this needs a browser.
func TestBrowserReachesTheIssuerByAClickAndReturns(t *testing.T) {
	d := sharedDemo(t)
	i := newIssuerServer(t, "oncall")
	i.Start()
	a := d.startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), Auth: Auth{Mode: "oidc",
		OIDC: OIDC{Issuer: i.URL, ClientID: "board", Roles: map[string]string{"oncall": "operator"}}}})
	o := newTab(t, d, 1280)
	o.incidents.hosts = []string{a.Addr(), strings.TrimPrefix(i.URL, "http://")}
	o.openAt(a.URL() + "login?next=%2Fzones")
	o.follow("form[action='/login/oidc'] button", "/zones")
	o.until(`document.querySelector("header .you")`)
}
