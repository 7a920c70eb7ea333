package web_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/web"
	"shardboard/web/changes"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestPagesOfferWhatTheRoleAllows(t *testing.T) {
	s := webtest.New(t, webtest.WithPeople, func(d *site.Deps) { d.Locate.Duplicates = webtest.FoundDuplicates{} })
	for role, want := range map[auth.Role]struct{ locate, admin, start int }{
		auth.Viewer: {0, 0, 0}, auth.Support: {1, 0, 0}, auth.Operator: {1, 0, 1}, auth.Admin: {1, 1, 1},
	} {
		doc := s.Page(t, "/settings", webtest.As("anna", role))
		expect.Equal(t, doc.Find("nav.side #menu .icon-locate").Length(), want.locate, "%s: links to locate", role)
		expect.Equal(t, doc.Find("#find").Length(), want.locate, "%s: boxes to locate", role)
		expect.Equal(t, doc.Find("nav.entry a[href='/settings/users']").Length(), want.admin, "%s: links to users", role)
		check := s.Page(t, "/checks/duplicates", webtest.As("anna", role))
		n := check.Find("main button:not(.printer)").Length()
		expect.That(t, n == want.start && strings.Contains(check.Text(), "needs the role") != (want.start > 0),
			"%s: %d buttons to start the check", role, n)
		expect.ContainsAll(t, doc.Find("header .you").Text(), []string{"anna", string(role)}, "%s: the header", role)
		expect.Equal(t, doc.Find("header form[action='/logout'][method=post] button").Length(), 1, "%s: ways out", role)
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
			text := s.Page(t, path).Find("main .banner").Text()
			expect.Contains(t, text, c.want, "%s: %s says", name, path)
		}
	}
}

func TestServerWithoutSignInLetsNobodyIn(t *testing.T) {
	s := webtest.New(t, func(d *site.Deps) { d.Access.Auth = nil })
	for _, rt := range web.Routes() {
		if need, _ := rt.Policy.Needs(); need == "" || rt.Policy == guard.PolicyNear {
			continue
		}
		w := s.Do(rt.Method, webtest.AddressOf(rt.Pattern))
		expect.That(t, w.Code == http.StatusSeeOther || w.Code == http.StatusUnauthorized, "%s %s: %d", rt.Method, rt.Pattern, w.Code)
	}
	for _, address := range []string{"/login", "/login/first?key=x"} {
		expect.Equal(t, s.Do("GET", address).Code, http.StatusOK, "%s", address)
	}
}

// described are the routes of a server's own description, as method and pattern.
func described(t *testing.T, s *webtest.Server) map[string]bool {
	t.Helper()
	var doc struct {
		OpenAPI string                               `json:"openapi"`
		Paths   map[string]map[string]map[string]any `json:"paths"`
	}
	must.Do(t, json.Unmarshal(s.Do("GET", "/api/openapi.json").Body.Bytes(), &doc))
	out, ids := map[string]bool{}, map[any]bool{}
	for path, ops := range doc.Paths {
		for method, op := range ops {
			out[strings.ToUpper(method)+" "+path] = true
			expect.That(t, !ids[op["operationId"]], "operationId %v twice", op["operationId"])
			ids[op["operationId"]] = true
			if open := op["x-policy"] == string(guard.PolicyOpen); open == (op["security"] != nil) || doc.OpenAPI != "3.1.0" {
				t.Errorf("%s %s: policy %v with security %v", method, path, op["x-policy"], op["security"])
			}
		}
	}
	return out
}

// routed are those that its router answers.
func routed(t *testing.T, s *webtest.Server) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for pattern, methods := range walked(t, s) {
		for _, m := range methods {
			if m != http.MethodHead {
				out[m+" "+pattern] = true
			}
		}
	}
	return out
}

func TestWithActionsOffThereIsNoRouteThatChangesTheCluster(t *testing.T) {
	on, off := webtest.New(t), webtest.New(t, func(d *site.Deps) { d.Changes.Actions = nil })
	for name, s := range map[string]*webtest.Server{"on": on, "off": off} {
		if r, d := routed(t, s), described(t, s); !maps.Equal(r, d) {
			t.Errorf("%s: the description is not that of the running configuration: %d routed, %d described", name, len(r), len(d))
		}
	}
	there := routed(t, off)
	for _, rt := range changes.Routes {
		expect.That(t, !there[rt.Method+" "+rt.Pattern], "%s %s is there", rt.Method, rt.Pattern)
		expect.Equal(t, off.Do(rt.Method, webtest.AddressOf(rt.Pattern)).Code, http.StatusNotFound,
			"%s %s", rt.Method, rt.Pattern)
		there[rt.Method+" "+rt.Pattern] = true
	}
	expect.That(t, maps.Equal(there, routed(t, on)), "more than the routes of actions is missing")
	for _, address := range webtest.PagesWithChanges() {
		page := off.Page(t, address)
		expect.Equal(t, page.Find(".acts, a[href^='/plans'], a[href^='/runs']").Length(), 0,
			"%s offers what is not there", address)
	}
	expect.Equal(t, off.Do("GET", "/live?t=run:"+webtest.RecordID("running")).Code, http.StatusBadRequest,
		"the topic of a run")
}

func TestARefusalOfAChangingRouteIsInTheRecord(t *testing.T) {
	trail := &webtest.StubAudit{}
	s := webtest.New(t, webtest.WithPeople, func(d *site.Deps) { d.Audit.Trail = trail })
	for _, rt := range web.Routes() {
		if rt.Method == http.MethodGet || rt.Policy != guard.PolicyOperate && rt.Policy != guard.PolicyAdmin {
			continue
		}
		for _, p := range []struct {
			by      string
			why     string
			records int
			change  func(*http.Request)
		}{
			{"user:vera", "role", 1, webtest.As("vera", auth.Viewer)},
			{"user:sam", "role", 1, webtest.As("sam", auth.Support)},
			{"", "cross-site", 1, func(r *http.Request) {
				webtest.As("olga", auth.Admin)(r)
				r.Header.Set("Sec-Fetch-Site", "cross-site")
			}},
			{"", "cross-site", 0, webtest.Header("Origin", "https://evil.example")}, // counted with the one before
		} {
			before := len(webtest.RefusalsOf(trail))
			address := webtest.AddressOf(rt.Pattern)
			expect.Equal(t, s.Do(rt.Method, address, p.change).Code, 403, "%s %s by %s", rt.Method, address, p.by)
			all := webtest.RefusalsOf(trail)
			if len(all) != before+p.records {
				t.Errorf("%s %s by %q: %d records", rt.Method, rt.Pattern, p.by, len(all)-before)
				continue
			}
			e := all[len(all)-1]
			expect.That(t, e.By == p.by && e.Outcome == "refused" && e.Details["why"] == p.why && e.Details["route"] == rt.Method+" "+rt.Pattern &&
				e.Cluster != "", "%+v", e)
			expect.That(t, (!strings.HasPrefix(rt.Pattern, "/api/v1/plans/") && !strings.HasPrefix(rt.Pattern, "/api/v1/runs/") ||
				strings.Contains(address, e.Subject)) &&
				(!strings.HasPrefix(rt.Pattern, "/runs/") || e.Subject != ""), "%s is about %q", address, e.Subject)
		}
	}
}
