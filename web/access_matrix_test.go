package web_test

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/web"
	"shardboard/web/guard"
	"shardboard/web/live"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestEveryRouteLetsInWhomItsPolicySaysAndNobodyElse(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for every page")
	}
	var ticks atomic.Int64 // time goes on, so that nobody's allowance of requests runs out
	door := webtest.NewAccountServer(t, func(d *site.Deps) {
		d.Now = func() time.Time { return webtest.Epoch.Add(time.Duration(ticks.Add(1)) * time.Second) }
	})
	everyone := append(door.People(), door.Veterans()...)
	h, reached := stubbed(door.Server)
	m := &matrix{t: t}
	ask := func(method, address string, change ...func(*http.Request)) string {
		*reached = false
		w := door.Ask(h, method, address, change...)
		switch text := w.Body.String(); {
		case (w.Code == http.StatusUnauthorized || w.Code == http.StatusSeeOther) && strings.Contains(text, "shard-rs-2"): // not in an address
			t.Errorf("%s %s shows the cluster to whom it refuses", method, address)
		case w.Code == http.StatusForbidden && len(change) == 1 && text != "" && !strings.Contains(text, "This needs the role "):
			t.Errorf("%s %s does not say what it needs: %s", method, address, text)
		case w.Code == http.StatusUnauthorized && (w.Header().Get("WWW-Authenticate") == "" || w.Header().Get("Content-Type") != api.ProblemType):
			t.Errorf("%s %s: 401 with %v", method, address, w.Header())
		}
		return doorOutcome(w, *reached)
	}
	cross := webtest.Header("Origin", "https://evil.example")
	for pattern, methods := range walked(t, door.Server) {
		address := webtest.AddressOf(pattern)
		for _, p := range everyone {
			for _, method := range methods {
				policy, tag := policyOf(method, pattern)
				m.Add(method+" "+pattern, p.Name, wanted(policy, tag, pattern, p.Role), ask(method, address, p.Proof))
				// A badly escaped query is not looked at before the door.
				if want := wanted(policy, tag, pattern, p.Role); want != "reached" {
					m.Add(method+" "+pattern+"?%zz", p.Name, want, ask(method, address+"?%zz", p.Proof))
				}
				if method == http.MethodPost || pattern == "/live" {
					m.Add(method+" "+pattern+" cross-origin", p.Name, "403", ask(method, address, p.Proof, cross))
				}
			}
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"} {
				if slices.Contains(methods, method) {
					continue
				}
				want := wanted(guard.PolicySelf, "", pattern, p.Role)
				if want == "reached" {
					want = "405"
				}
				m.Add(method+" "+pattern, p.Name, want, ask(method, address, p.Proof))
			}
		}
	}
	for _, address := range []string{"/nothing", "/api/v1/nothing", "/api", "/collections/", "/login/", "/settings/users/a/b",
		"/static", "/live/"} {
		for _, p := range everyone {
			want := wanted(guard.PolicySelf, "", address, p.Role)
			if want == "reached" {
				want = "404"
				if to, slash := strings.CutSuffix(address, "/"); slash { // it leads to the address without
					want = map[string]string{"/login": "to login"}[to]
					want = cmp.Or(want, "303")
				}
			}
			m.Add("GET "+address, p.Name, want, ask("GET", address, p.Proof))
			m.Add("POST "+address+" cross-origin", p.Name, "403", ask("POST", address, p.Proof, cross))
		}
	}
	m.check(len(web.Routes()) * len(everyone) * 5)
	t.Logf("%d cells over %d routes", len(m.cells), len(web.Routes()))
}

func TestEveryTopicLetsInWhomItsPolicySaysAndNobodyElse(t *testing.T) {
	door := webtest.NewAccountServer(t)
	everyone := append(door.People(), door.Veterans()...)
	m := &matrix{t: t}
	for _, topic := range site.Topics(web.Routes()) {
		name := topic.Kind
		if topic.Of != nil {
			thing, named := map[string]string{"project": webtest.ProjectID(5).Hex(), "run": webtest.RecordID("running"),
				"plan": webtest.RecordID("move"), "matrix": "collections-bytes"}[topic.Kind]
			if !named {
				thing = "x"
			}
			name += ":" + thing
		}
		for _, p := range everyone {
			want := wanted(topic.Policy, "", "/live", p.Role)
			if want == "reached" {
				want = "426" // the door is passed: it only lacks the upgrade
			}
			address := "/live?t=" + url.QueryEscape(name)
			m.Add("topic "+name, p.Name, want, doorOutcome(door.Ask(door.Handler(), "GET", address, p.Proof), false))
			m.Add("topic "+name+" cross-origin", p.Name, "403",
				doorOutcome(door.Ask(door.Handler(), "GET", address, p.Proof, webtest.Header("Origin", "null")), false))
		}
	}
	m.check(2 * len(site.Topics(web.Routes())) * len(everyone))
}

func TestTopicsWithoutAPolicyAreFollowedByNobody(t *testing.T) {
	for _, topic := range site.Topics(web.Routes()) {
		if _, known := topic.Policy.Needs(); !known || topic.Policy == guard.PolicyOpen {
			t.Errorf("topic %s has policy %q", topic.Kind, topic.Policy)
		}
		if err := live.MayFollow(auth.Principal{}, topic); err == nil {
			t.Errorf("nobody follows %s", topic.Kind)
		}
	}
	if err := live.MayFollow(auth.Local(), site.Topic{}); err == nil {
		t.Error("a topic that is not in the table is followed")
	}
}

func TestRouteWithoutAPolicyStopsTheProgram(t *testing.T) {
	s := webtest.New(t)
	for _, p := range []guard.Policy{"", "opne"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a route with policy %q is served", p)
				}
			}()
			s.Router([]site.Route{{Method: "GET", Pattern: "/new", Policy: p, Handler: site.Healthz}})
		}()
	}
}

// TestPoliciesAreWhatTheRolesMean pins the policies themselves, which the
// matrix takes as given.
func TestPoliciesAreWhatTheRolesMean(t *testing.T) {
	open := []string{
		"/login", "/login/first", "/login/oidc", "/login/oidc/callback", "/api/openapi.json", "/healthz", "/readyz",
		"/static/{file}", "/static/js/{file}",
	}
	for _, rt := range web.Routes() {
		own := strings.HasPrefix(rt.Pattern, "/settings") || strings.Contains(rt.Pattern, "/sessions") ||
			strings.Contains(rt.Pattern, "/tokens") || rt.Pattern == "/logout" ||
			rt.Pattern == "/tour" && rt.Method == http.MethodPost // keeps a cookie
		switch {
		case slices.Contains(open, rt.Pattern) != (rt.Policy == guard.PolicyOpen):
			t.Errorf("%s %s is %s", rt.Method, rt.Pattern, rt.Policy)
		case strings.Contains(rt.Pattern, "/locate") && rt.Policy != guard.PolicyLocate:
			t.Errorf("%s %s takes document keys and is %s", rt.Method, rt.Pattern, rt.Policy)
		case strings.Contains(rt.Pattern, "/audit") && rt.Policy != guard.PolicyOperate,
			strings.Contains(rt.Pattern, "/users") && rt.Policy != guard.PolicyAdmin:
			t.Errorf("%s %s is %s", rt.Method, rt.Pattern, rt.Policy)
		case rt.Method == http.MethodPost && !own && (rt.Policy == guard.PolicyRead || rt.Policy == guard.PolicySelf):
			t.Errorf("%s %s changes something and is %s", rt.Method, rt.Pattern, rt.Policy)
		case own && rt.Policy != guard.PolicySelf && rt.Policy != guard.PolicyAdmin:
			t.Errorf("%s %s is %s", rt.Method, rt.Pattern, rt.Policy)
		}
	}
}
