package web_test

import (
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/store"
	"shardboard/web"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestPagesOfferWhatTheRoleAllows(t *testing.T) {
	s := webtest.New(t, webtest.WithPeople, func(d *site.Deps) { d.Locate.Duplicates = webtest.FoundDuplicates{} })
	for role, want := range map[auth.Role]struct{ locate, admin, start int }{
		auth.Viewer: {0, 0, 0}, auth.Support: {1, 0, 0}, auth.Operator: {1, 0, 1}, auth.Admin: {1, 1, 1},
	} {
		doc := webtest.ParseHTML(t, s.Do("GET", "/settings", webtest.As("anna", role)).Body.String())
		if n := doc.Find("nav.side #menu .icon-locate").Length(); n != want.locate {
			t.Errorf("%s: %d links to locate", role, n)
		}
		if n := doc.Find("#find").Length(); n != want.locate {
			t.Errorf("%s: %d boxes to locate", role, n)
		}
		if n := doc.Find("nav.entry a[href='/settings/users']").Length(); n != want.admin {
			t.Errorf("%s: %d links to users", role, n)
		}
		check := webtest.ParseHTML(t, s.Do("GET", "/checks/duplicates", webtest.As("anna", role)).Body.String())
		if n := check.Find("main button:not(.printer)").Length(); n != want.start ||
			strings.Contains(check.Text(), "needs the role") == (want.start > 0) {
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
			d.Access.Auth = webtest.OnePerson{Who: auth.Principal{ID: "demo", Name: "demo", Role: auth.Operator, Method: auth.ByDemo}}
		}, "everybody on this machine can change its cluster"},
		"break-glass": {func(d *site.Deps) {
			d.Access.Auth = webtest.OnePerson{Who: auth.Principal{ID: "user:x", Name: "x", Role: auth.Admin, Method: auth.ByBreakGlass}}
		}, "break-glass account"},
		"read only":         {webtest.WithDataHeld(store.OwnedByAnother), "Read only"},
		"without an owner":  {webtest.WithDataHeld(store.OwnerGone), "has stopped"},
		"without its data":  {webtest.WithDataHeld(store.Vanished), "was moved, deleted or replaced while shardboard was running"},
		"with unknown data": {webtest.WithDataHeld(store.Unreadable), "cannot be checked"},
	} {
		s := webtest.New(t, c.change)
		for _, path := range []string{"/", "/settings"} { // the same shell as of every page
			if text := webtest.ParseHTML(t, s.Do("GET", path).Body.String()).Find("main .banner").Text(); !strings.Contains(text, c.want) {
				t.Errorf("%s: %s says %q", name, path, text)
			}
		}
	}
}

func TestServerWithoutSignInLetsNobodyIn(t *testing.T) {
	s := webtest.New(t, func(d *site.Deps) { d.Access.Auth = nil })
	for _, rt := range web.Routes() {
		if need, _ := rt.Policy.Needs(); need == "" || rt.Policy == guard.PolicyNear {
			continue
		}
		if w := s.Do(rt.Method, webtest.AddressOf(rt.Pattern)); w.Code != http.StatusSeeOther && w.Code != http.StatusUnauthorized {
			t.Errorf("%s %s: %d", rt.Method, rt.Pattern, w.Code)
		}
	}
	for _, address := range []string{"/login", "/login/first?key=x"} {
		expect.Equal(t, s.Do("GET", address).Code, http.StatusOK, "%s", address)
	}
}
