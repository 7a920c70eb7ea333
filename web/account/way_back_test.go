package account_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

// elsewhere are ways back that lead, or look as if they might lead, off the
// site or to what is no page.
var elsewhere = []string{
	"https://evil.example", "http://evil.example/", "//evil.example", "///evil.example", "////evil.example",
	"//evil.example/collections", "/\\evil.example", "\\/evil.example", "\\\\evil.example", "/\\/evil.example",
	"/ /evil.example", "/\t/evil.example", "/\n/evil.example", "/\r\nSet-Cookie: a=b", "\t//evil.example",
	" //evil.example", "https:evil.example", "https:/evil.example", "http:collections", "javascript:alert(1)",
	"JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "evil.example", "evil.example/collections",
	"@evil.example", "/@evil.example", "//user@evil.example", "/%5cevil.example", "/%2f%2fevil.example",
	"/%2fevil.example", "/%09/evil.example", "/%00", "/..//evil.example", "/./\\evil.example", "/.//evil.example",
	"/collections/../..//evil.example", "//localhost:8090@evil.example", "/nothing", "/login", "/login?next=/login",
	"/logout", "/login/oidc", "/api/v1/cluster", "/static/app.css", "/live", "/metrics", "/healthz", "",
	"/collections\u2028", "/\u2044evil.example", "/\uff0fevil.example", "/zones.csv",
	"/" + strings.Repeat("a", 3000), "/collections?" + strings.Repeat("a", 3000), "?x", "#x",
	"/collections#//evil.example\\", "//%65vil.example", "/collections/%zz",
}

func TestWayBackLeadsToOwnPagesOnly(t *testing.T) {
	door := webtest.NewAccountServer(t)
	must.That(t, len(elsewhere) >= 30, "too few")
	for _, next := range elsewhere {
		want := "/"
		if next == "/collections#//evil.example\\" {
			want = "/"
		}
		w := door.Ask(door.Handler(), "POST", "/login", webtest.Form("name", "viewer", "password", webtest.GoodPassword, "next", next))
		got := w.Header().Get("Location")
		expect.That(t, w.Code == http.StatusSeeOther && got == want, "%q leads to %q (%d)", next, got, w.Code)
		w = door.Ask(door.Handler(), "GET", "/login?next="+url.QueryEscape(next), door.With("admin"))
		expect.Equal(t, w.Header().Get("Location"), "/", "%q for who is in", next)
		w = door.Ask(door.Handler(), "GET", "/login?next="+url.QueryEscape(next))
		expect.Equal(t, webtest.ParseHTML(t, w.Body.String()).Find("input[name=next]").Length(), 0, "%q is in the form", next)
		door.Pass(10 * time.Second) // within what one account may
	}
	for _, next := range []string{"/collections", "/collections/a.b%2Fc?shard=x&page=2", "/projects?q=%2F%2Fevil.example",
		"/settings", "/settings/users", "/locate/bulk"} {
		door.Pass(time.Minute)
		w := door.Ask(door.Handler(), "POST", "/login", webtest.Form("name", "viewer", "password", webtest.GoodPassword, "next", next))
		expect.Equal(t, w.Header().Get("Location"), next, "%q leads to", next)
	}
}

func TestSignInReturnsToTheRequestedPage(t *testing.T) {
	door := webtest.NewAccountServer(t)
	for _, c := range []struct{ method, address, want string }{
		{"GET", "/", "/login"}, {"GET", "/collections", "/login?next=%2Fcollections"},
		{"HEAD", "/projects?q=a%20b&page=2", "/login?next=%2Fprojects%3Fq%3Da%2520b%26page%3D2"},
		{"POST", "/checks/duplicates?x=1", "/login?next=%2Fchecks%2Fduplicates"},
		{"POST", "/settings/tokens", "/login"}, {"GET", "/nothing", "/login"}, {"GET", "//evil.example/", "/login"},
		{"PUT", "/collections", "/login?next=%2Fcollections"},
	} {
		w := door.Ask(door.Handler(), c.method, c.address)
		got := w.Header().Get("Location")
		expect.That(t, w.Code == http.StatusSeeOther && got == c.want, "%s %s: %d to %q, want %q", c.method, c.address, w.Code, got, c.want)
	}
	w := door.Ask(door.Handler(), "GET", "/zones", door.With("expired"))
	expect.Equal(t, w.Header().Get("Location"), "/login?ended=1&next=%2Fzones", "expired")
}

func TestSignInPagesRedirectHomeWithoutSignIn(t *testing.T) {
	s := webtest.New(t) // sign-in is off
	for _, w := range []*httptest.ResponseRecorder{
		s.Do("GET", "/login"), s.Do("GET", "/login/first?key=x"), s.Do("GET", "/login/oidc/callback?code=x&state=y"),
		s.Do("POST", "/login", webtest.Form("name", "a", "password", "b")),
		s.Do("POST", "/login/first", webtest.Form("key", "x", "name", "a", "password", "b")),
	} {
		expect.That(t, w.Code == http.StatusSeeOther && w.Header().Get("Location") == "/" && len(w.Result().Cookies()) == 0 &&
			!strings.Contains(w.Body.String(), "<form"), "%d %v %.200s", w.Code, w.Header(), w.Body)
	}
}
