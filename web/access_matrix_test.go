package web_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/web"
	"shardboard/web/guard"
	"shardboard/web/live"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestEveryRouteLetsInWhomItsPolicySaysAndNobodyElse(t *testing.T) {
	only.Long(t, "asks for every page")
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
		_, known := topic.Policy.Needs()
		expect.That(t, known && topic.Policy != guard.PolicyOpen, "topic %s has policy %q", topic.Kind, topic.Policy)
		expect.That(t, live.MayFollow(auth.Principal{}, topic) != nil, "nobody follows %s", topic.Kind)
	}
	expect.That(t, live.MayFollow(auth.Local(), site.Topic{}) != nil, "a topic that is not in the table is followed")
}

func TestRouteWithoutAPolicyStopsTheProgram(t *testing.T) {
	s := webtest.New(t)
	for _, p := range []guard.Policy{"", "opne"} {
		func() {
			defer func() {
				expect.That(t, recover() != nil, "a route with policy %q is served", p)
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

// cell is one square of the matrix: a request of somebody, and what became of it.
type cell struct {
	route, who  string
	want, found string
}

// matrix collects cells and prints the whole table when one is wrong.
type matrix struct {
	t     *testing.T
	cells []cell
}

func (m *matrix) Add(route, who, want, found string) {
	m.cells = append(m.cells, cell{route, who, want, found})
}

func (m *matrix) check(least int) {
	m.t.Helper()
	wrong := 0
	for _, c := range m.cells {
		if c.want != c.found {
			wrong++
			m.t.Errorf("%s by %s: %s, want %s", c.route, c.who, c.found, c.want)
		}
	}
	expect.That(m.t, len(m.cells) >= least, "only %d cells", len(m.cells))
	if wrong > 0 {
		var table strings.Builder
		for _, c := range m.cells {
			fmt.Fprintf(&table, "%-58s %-12s %-10s %s\n", c.route, c.who, c.want, c.found)
		}
		m.t.Logf("%d of %d cells are wrong\n%s", wrong, len(m.cells), &table)
	}
}

// doorOutcome puts an answer into a word: what the door did, or "reached".
func doorOutcome(w *httptest.ResponseRecorder, reached bool) string {
	switch {
	case reached:
		return "reached"
	case w.Code == http.StatusSeeOther && strings.HasPrefix(w.Header().Get("Location"), "/login"):
		return "to login"
	}
	return fmt.Sprint(w.Code)
}

// wanted is the outcome that a policy means for somebody, and no more than
// that: a route that is new is in the matrix by its policy alone.
func wanted(p guard.Policy, tag, path string, role auth.Role) string {
	need, known := p.Needs()
	switch {
	case !known:
		return "a policy"
	case need == "", p == guard.PolicyNear: // the fixtures listen on loopback
		return "reached"
	case role == "" && scripted(path):
		return "401"
	case role == "":
		return "to login"
	case !role.Includes(need):
		return "403"
	}
	return "reached"
}

func scripted(path string) bool {
	return strings.HasPrefix(path, "/api") || slices.Contains([]string{"/live", "/healthz", "/readyz", "/metrics"}, path)
}

// stubbed is the site with every handler replaced by one that only notes that
// it was reached: nothing a request would do happens, and what stands before
// the handlers is the real thing.
func stubbed(s *webtest.Server) (h http.Handler, reached *bool) {
	reached = new(bool)
	table := web.Routes()
	for i := range table {
		table[i].Stream, table[i].Tagged = true, false
		table[i].Handler = func(_ *site.Site, w http.ResponseWriter, _ *http.Request) error {
			*reached = true
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
	return s.Outside(s.Router(table)), reached
}

// walked is every method and pattern that the real router answers.
func walked(t *testing.T, s *webtest.Server) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := chi.Walk(s.Mux, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		out[pattern] = append(out[pattern], method)
		return nil
	})
	must.Do(t, err)
	return out
}

// policyOf is the policy of a routed method and pattern; none when the table
// does not have it.
func policyOf(method, pattern string) (guard.Policy, string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, rt := range web.Routes() {
		if rt.Method == method && rt.Pattern == pattern {
			return rt.Policy, rt.Tag
		}
	}
	return "", ""
}
