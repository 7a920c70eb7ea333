package app

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/input"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/must"
)

// TestBrowserFollowsItsSession has pages open while the role of its user changes and while the user signs out
// elsewhere.
func TestBrowserFollowsItsSession(t *testing.T) {
	needBrowser(t)
	d := startWithLocalUsers(t)
	accounts := d.app.current().auth
	_, err := accounts.CreateUser(t.Context(), auth.Console(),
		auth.NewUser{Name: "anna", Password: password, Role: auth.Viewer})
	must.Do(t, err)
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
	must.Do(t, accounts.SetRole(t.Context(), auth.Console(), "anna", auth.Admin))
	o.arrive("/collections")
	o.open("settings/users")
	o.until(`document.querySelector("#users")?.checkVisibility()`)

	// An open page is left when its session ends in another tab, whatever its sliders and boxes have been set to, and is
	// there again after sign-in.
	signOut := func() {
		o.run("window.leaving_ = true")
		other := o.another()
		other.expect("status of 401", "WebSocket")
		other.open("settings")
		other.follow(`form[action="/logout"] button`, "/login")
	}
	o.do(screen(1280, "light"))
	for _, path := range []string{"", "collections", "map", "heat"} {
		o.open(path)
		o.run(`for (const f of document.querySelectorAll("main input")) {
			if (f.type === "range") f.value = f.max; else if (f.type === "checkbox") f.click() }`)
		signOut()
		o.arrive("/login")
		o.is("/login?ended=1&next=%2F"+path, "location.pathname + location.search")
		o.signIn("anna", password)
		o.is("/"+path, "location.pathname")
	}

	// What a person has typed holds it back for a while, and only that is still shown.
	o.open("zones")
	o.run(`window.later_ = []; const real = setTimeout;
		window.setTimeout = (f, ms) => ms >= 20000 ? window.later_.push(f) : real(f, ms)
		document.querySelector("main").insertAdjacentHTML("beforeend", "<textarea id=reason></textarea>")`)
	o.focus("#reason")
	o.do(call(input.InsertText, input.InsertTextParams{Text: "why I do this"}))
	signOut()
	o.until(`"over" in document.documentElement.dataset`)
	o.until(`getComputedStyle(document.querySelector("main h1")).visibility === "hidden"`)
	o.until(`getComputedStyle(document.querySelector("#reason")).visibility === "visible"`)
	o.run(`for (const f of window.later_) f()`)
	o.arrive("/login")
}

// TestBrowserJourneyBelowAPath has a public address below a path, of which only that path is ours, behind a proxy that
// passes no WebSockets at first, and signs in at an issuer. What scripts ask for and where they lead is below the path
// too: any failed request fails the test. Only a browser blocks a form that is redirected to another site.
func TestBrowserJourneyBelowAPath(t *testing.T) {
	d := sharedDemo(t)
	i := newIssuerServer(t, "oncall")
	i.Start()
	front := httptest.NewUnstartedServer(nil)
	public := "http://" + front.Listener.Addr().String() + "/board"
	a := d.startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), PublicURL: public, Auth: Auth{Mode: "oidc",
		OIDC: OIDC{Issuer: i.URL, ClientID: "board", Roles: map[string]string{"oncall": "admin"}}}})
	to := &url.URL{Scheme: "http", Host: a.Addr()}
	through := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }}
	var passes atomic.Bool
	front.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/board/") { // another program's
			http.NotFound(w, r)
			return
		}
		if !passes.Load() { // as a proxy that speaks HTTP/1.0 to its servers
			r.Header.Del("Upgrade")
			r.Header.Del("Connection")
		}
		through.ServeHTTP(w, r)
	})
	front.Start()
	t.Cleanup(front.Close) // after the pages are closed, which may still load something

	o := newTab(t, d, 1280)
	o.incidents.hosts = []string{front.Listener.Addr().String(), strings.TrimPrefix(i.URL, "http://")}
	o.expect("WebSocket", "status of 426", "status of 401") // no sockets; when the session has ended
	o.openAt(public + "/map")
	o.run("window.leaving_ = true")
	o.click("form[action='/board/login/oidc'] button")

	// Without sockets a page asks by HTTP, and goes back to a socket when one opens.
	const words, link = `document.querySelector("#status .words").textContent`, `document.querySelector("#polled")`
	o.until(`window.leaving_ === undefined && location.pathname === "/board/map" && ` + words + `.includes("Live every 10 s") && !` +
		link + `.hidden && ` + link + `.getAttribute("href") === "/board/help/websockets"`)
	passes.Store(true)
	o.run(`dispatchEvent(new Event("online"))`)
	o.until(link + `.hidden && !` + words + `.includes("10 s") && !` + words + `.includes("lost")`)

	o.run(`document.activeElement.blur()`)
	o.press("g", "p")
	o.arrive("/board/projects")
	o.openAt(public + "/heat")
	o.openAt(public + "/collections")
	o.run(`document.querySelector("#go").click()`)
	o.fill("#palette-text", "zones")
	o.until(`document.querySelector("#palette-list a")?.getAttribute("href") === "/board/zones"`)
	o.press("Enter")
	o.arrive("/board/zones")
	other := o.another()
	other.incidents.hosts = o.incidents.hosts
	other.expect("status of 401")
	other.openAt(public + "/")
	other.click(`form[action="/board/logout"] button`)
	other.arrive("/board/login")
	o.arrive("/board/login")
}
