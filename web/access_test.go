package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/store"
	"shardboard/web"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// elsewhere are ways back that lead, or look as if they might lead, off the
// site or to what is no page.
var elsewhere = []string{
	"https://evil.example", "http://evil.example/", "//evil.example", "///evil.example", "////evil.example", "//evil.example/collections",
	"/\\evil.example", "\\/evil.example", "\\\\evil.example", "/\\/evil.example", "/ /evil.example", "/\t/evil.example",
	"/\n/evil.example", "/\r\nSet-Cookie: a=b",
	"\t//evil.example", " //evil.example", "https:evil.example", "https:/evil.example", "http:collections", "javascript:alert(1)",
	"JaVaScRiPt:alert(1)",
	"data:text/html,x", "vbscript:x", "evil.example", "evil.example/collections", "@evil.example", "/@evil.example",
	"//user@evil.example", "/%5cevil.example", "/%2f%2fevil.example",
	"/%2fevil.example", "/%09/evil.example", "/%00", "/..//evil.example", "/./\\evil.example", "/.//evil.example",
	"/collections/../..//evil.example", "//localhost:8090@evil.example",
	"/nothing", "/login", "/login?next=/login", "/logout", "/login/oidc", "/api/v1/cluster", "/static/app.css", "/live", "/metrics",
	"/healthz", "", "/collections\u2028", "/\u2044evil.example", "/\uff0fevil.example",
	"/shards/shard-rs-1.csv", "/" + strings.Repeat("a", 3000), "/collections?" + strings.Repeat("a", 3000), "?x", "#x",
	"/collections#//evil.example\\", "//%65vil.example", "/collections/%zz",
}

func TestWayBackLeadsToOwnPagesOnly(t *testing.T) {
	door := webtest.NewDoor(t)
	if len(elsewhere) < 30 {
		t.Fatal("too few")
	}
	for _, next := range elsewhere {
		want := "/"
		if next == "/collections#//evil.example\\" {
			want = "/"
		}
		w := door.Ask(door.Handler(), "POST", "/login", webtest.Form("name", "viewer", "password", webtest.GoodPassword, "next", next))
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != want {
			t.Errorf("%q leads to %q (%d)", next, got, w.Code)
		}
		w = door.Ask(door.Handler(), "GET", "/login?next="+url.QueryEscape(next), door.With("admin"))
		if got := w.Header().Get("Location"); got != "/" {
			t.Errorf("%q leads who is in to %q", next, got)
		}
		w = door.Ask(door.Handler(), "GET", "/login?next="+url.QueryEscape(next))
		if webtest.ParseHTML(t, w.Body.String()).Find("input[name=next]").Length() != 0 {
			t.Errorf("%q is in the form", next)
		}
		door.Pass(10 * time.Second) // within what one account may
	}
	for _, next := range []string{"/collections", "/collections/a.b%2Fc?shard=x&page=2", "/projects?q=%2F%2Fevil.example",
		"/settings", "/settings/users", "/locate/bulk"} {
		door.Pass(time.Minute)
		w := door.Ask(door.Handler(), "POST", "/login", webtest.Form("name", "viewer", "password", webtest.GoodPassword, "next", next))
		if got := w.Header().Get("Location"); got != next {
			t.Errorf("%q leads to %q", next, got)
		}
	}
}

func TestWhoIsSentToSignInComesBack(t *testing.T) {
	door := webtest.NewDoor(t)
	for _, c := range []struct{ method, address, want string }{
		{"GET", "/", "/login"},
		{"GET", "/collections", "/login?next=%2Fcollections"},
		{"HEAD", "/projects?q=a%20b&page=2", "/login?next=%2Fprojects%3Fq%3Da%2520b%26page%3D2"},
		{"POST", "/checks/duplicates?x=1", "/login?next=%2Fchecks%2Fduplicates"},
		{"POST", "/settings/tokens", "/login"},
		{"GET", "/nothing", "/login"},
		{"GET", "//evil.example/", "/login"},
		{"PUT", "/collections", "/login?next=%2Fcollections"},
	} {
		w := door.Ask(door.Handler(), c.method, c.address)
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != c.want {
			t.Errorf("%s %s: %d to %q, want %q", c.method, c.address, w.Code, got, c.want)
		}
	}
	w := door.Ask(door.Handler(), "GET", "/zones", door.With("expired"))
	if got := w.Header().Get("Location"); got != "/login?ended=1&next=%2Fzones" {
		t.Errorf("expired: %q", got)
	}
}

// TestPagesOfTwoPeopleNeverMix asks for the same addresses as different people,
// with each other's validators.
func TestPagesOfTwoPeopleNeverMix(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for every page")
	}
	s := webtest.New(t, webtest.WithClaims)
	people := []struct {
		name string
		role auth.Role
	}{{"anna-the-admin", auth.Admin}, {"vera-the-viewer", auth.Viewer}, {"vera-the-viewer", auth.Support}, {"olga", auth.Operator}}
	for _, rt := range web.Routes() {
		if rt.Method != "GET" || !rt.Tagged {
			continue
		}
		tags, bodies := map[string]string{}, map[string]string{}
		for _, p := range people {
			who := fmt.Sprint(p.name, p.role)
			w := s.Do("GET", webtest.AddressOf(rt.Pattern), webtest.As(p.name, p.role))
			tags[who], bodies[who] = w.Header().Get("ETag"), w.Body.String()
			for _, other := range people {
				if other.name != p.name && strings.Contains(w.Body.String(), other.name) {
					t.Errorf("%s shows %s to %s", rt.Pattern, other.name, p.name)
				}
			}
		}
		for _, a := range people {
			for _, b := range people {
				whoA, whoB := fmt.Sprint(a.name, a.role), fmt.Sprint(b.name, b.role)
				if whoA == whoB || bodies[whoA] == bodies[whoB] {
					continue
				}
				if w := s.Do("GET", webtest.AddressOf(rt.Pattern), webtest.As(a.name, a.role),
					webtest.Header("If-None-Match", tags[whoB])); w.Code == http.StatusNotModified {
					t.Errorf("%s: %s is told that %s's page is theirs", rt.Pattern, whoA, whoB)
				}
			}
		}
	}
}

func TestFragmentsAreTheSameForEverybody(t *testing.T) {
	s := webtest.New(t, webtest.WithClaims)
	for _, topic := range []string{"overview", "collections", "projects", "zones", "activity", "shard:shard-rs-1",
		"project:" + webtest.ProjectID(5).Hex()} {
		render, ok := s.Fragment(topic)
		if !ok {
			t.Fatal(topic)
		}
		var all []string
		for _, p := range []auth.Principal{{}, {ID: "user:a", Name: "anna", Role: auth.Admin}, {ID: "user:v", Name: "vera", Role: auth.Viewer}} {
			var b strings.Builder
			if err := render(auth.With(t.Context(), p), &b, s.View()); err != nil {
				t.Fatal(err)
			}
			all = append(all, b.String())
		}
		if all[0] != all[1] || all[1] != all[2] {
			t.Errorf("%s depends on who looks", topic)
		}
	}
}

func TestPagesOfferWhatTheRoleAllows(t *testing.T) {
	s := webtest.New(t, webtest.WithClaims, func(d *site.Deps) { d.Duplicates = webtest.FoundDuplicates{} })
	for role, want := range map[auth.Role]struct{ locate, admin, start int }{
		auth.Viewer: {0, 0, 0}, auth.Support: {1, 0, 0}, auth.Operator: {1, 0, 1}, auth.Admin: {1, 1, 1},
	} {
		doc := webtest.ParseHTML(t, s.Do("GET", "/settings", webtest.As("anna", role)).Body.String())
		if n := doc.Find("nav.side a[href='/locate']").Length(); n != want.locate {
			t.Errorf("%s: %d links to locate", role, n)
		}
		if n := doc.Find("#find").Length(); n != want.locate {
			t.Errorf("%s: %d boxes to locate", role, n)
		}
		if n := doc.Find("main a[href='/settings/users']").Length(); n != want.admin {
			t.Errorf("%s: %d links to users", role, n)
		}
		check := webtest.ParseHTML(t, s.Do("GET", "/checks/duplicates", webtest.As("anna", role)).Body.String())
		if n := check.Find("main button").Length(); n != want.start || strings.Contains(check.Text(), "needs the role") == (want.start > 0) {
			t.Errorf("%s: %d buttons to start the check", role, n)
		}
		if text := doc.Find("header .you").Text(); !strings.Contains(text, "anna") || !strings.Contains(text, string(role)) {
			t.Errorf("%s: the header says %q", role, text)
		}
		if n := doc.Find("header form[action='/logout'][method=post] button").Length(); n != 1 {
			t.Errorf("%s: %d ways out", role, n)
		}
	}
}

func TestBannersSayWhatEverybodyMustKnow(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*site.Deps)
		want   string
	}{
		"none": {func(*site.Deps) {}, "Sign-in is off"},
		"demo": {func(d *site.Deps) {
			d.Auth = webtest.Everybody{Who: auth.Principal{ID: "demo", Name: "demo", Role: auth.Operator, Method: auth.ByDemo}}
		}, "everybody on this machine is its operator"},
		"break-glass": {func(d *site.Deps) {
			d.Auth = webtest.Everybody{Who: auth.Principal{ID: "user:x", Name: "x", Role: auth.Admin, Method: auth.ByBreakGlass}}
		}, "break-glass account"},
		"read only":         {webtest.WithData(store.OwnedByAnother), "Read only"},
		"without an owner":  {webtest.WithData(store.OwnerGone), "has stopped"},
		"without its data":  {webtest.WithData(store.Vanished), "was moved, deleted or replaced while shardboard was running"},
		"with unknown data": {webtest.WithData(store.Unreadable), "cannot be checked"},
	} {
		s := webtest.New(t, c.change)
		for _, rt := range web.Routes() {
			if rt.Method != "GET" || rt.Tag != site.TagPages || rt.Policy == guard.PolicyOpen || rt.Types[0] != site.MediaHTML {
				continue
			}
			if need, _ := rt.Policy.Needs(); name == "demo" && !auth.Operator.Includes(need) {
				continue
			}
			if text := webtest.ParseHTML(t, s.Do("GET", webtest.AddressOf(rt.Pattern)).Body.String()).Find("main .banner").Text(); !strings.Contains(
				text,
				c.want,
			) {
				t.Errorf("%s: %s says %q", name, rt.Pattern, text)
			}
		}
	}
}

func TestServerWithoutSignInLetsNobodyIn(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for every page")
	}
	s := webtest.New(t, func(d *site.Deps) { d.Auth = nil })
	for _, rt := range web.Routes() {
		if need, _ := rt.Policy.Needs(); need == "" || rt.Policy == guard.PolicyNear {
			continue
		}
		if w := s.Do(rt.Method, webtest.AddressOf(rt.Pattern)); w.Code != http.StatusSeeOther && w.Code != http.StatusUnauthorized {
			t.Errorf("%s %s: %d", rt.Method, rt.Pattern, w.Code)
		}
	}
	for _, address := range []string{"/login", "/login/first?key=x"} {
		if w := s.Do("GET", address); w.Code != http.StatusOK {
			t.Errorf("%s: %d", address, w.Code)
		}
	}
}

func TestMetricsAreForThisMachineOnly(t *testing.T) {
	near, far := webtest.New(t, webtest.WithClaims), webtest.New(t, webtest.WithClaims, func(d *site.Deps) { d.Exposed = true })
	if w := near.Do("GET", "/metrics"); w.Code != http.StatusOK {
		t.Errorf("loopback: %d", w.Code)
	}
	if w := far.Do("GET", "/metrics"); w.Code != http.StatusUnauthorized {
		t.Errorf("exposed: %d", w.Code)
	}
	if w := far.Do("GET", "/metrics", webtest.As("prometheus", auth.Viewer)); w.Code != http.StatusOK {
		t.Errorf("exposed, by a viewer: %d", w.Code)
	}
	if w := far.Do("GET", "/healthz"); w.Code != http.StatusOK {
		t.Errorf("health: %d", w.Code)
	}
}

func TestStrictTransportIsSaidOverTLSOnly(t *testing.T) {
	for _, tls := range []bool{false, true} {
		s := webtest.New(t, func(d *site.Deps) { d.TLS = tls })
		for _, address := range []string{"/", "/login", "/nothing", "/healthz"} {
			if got := s.Do("GET", address).Header().Get("Strict-Transport-Security"); (got == "max-age=31536000") != tls {
				t.Errorf("TLS %v: %s says %q", tls, address, got)
			}
		}
	}
}
