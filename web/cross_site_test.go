package web_test

import (
	"net/http"
	"strings"
	"testing"

	"shardboard/web"
	"shardboard/web/webtest"
)

// changing are the addresses that take anything but GET, and some that do not.
func changing() []string {
	out := []string{"/nothing", "/", "/api/v1/nothing", "/live", "//locate/bulk", "/static/js/x.js"}
	for _, rt := range web.Routes() {
		if rt.Method != http.MethodGet {
			out = append(out, strings.NewReplacer("{", "", "}", "").Replace(rt.Pattern))
		}
	}
	return out
}

// Our own pages alone may send forms. None of these origins, and no site that a
// browser calls another one, gets past the checks around the router, whatever
// the address and the method.
func TestRequestsOfOtherSitesChangeNothing(t *testing.T) {
	s := webtest.New(t, webtest.WithHosts)
	if len(webtest.ForeignOrigins) < 30 {
		t.Fatal("too few origins")
	}
	refuses := func(method, address, why string, change func(*http.Request)) {
		t.Helper()
		w := s.Do(method, address, func(r *http.Request) { r.Host = "localhost:8090" }, change)
		if w.Code != http.StatusForbidden || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s %s with %s: %d", method, address, why, w.Code)
		}
	}
	for _, address := range changing() {
		for _, origin := range webtest.ForeignOrigins {
			refuses("POST", address, "origin "+origin, func(r *http.Request) { r.Header["Origin"] = []string{origin} })
		}
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "MADE-UP"} {
			for _, site := range []string{"cross-site", "same-site", "CROSS-SITE", "Same-Origin", "same-origin, cross-site", " ", "null"} {
				refuses(method, address, "site "+site, webtest.Header("Sec-Fetch-Site", site))
			}
			refuses(
				method,
				address,
				"two origins",
				func(r *http.Request) { r.Header["Origin"] = []string{"http://localhost:8090", "https://evil.example"} },
			)
			refuses(method, address, "its own host as another site", func(r *http.Request) {
				r.Header.Set("Origin", "http://localhost:8090")
				r.Header.Set("Sec-Fetch-Site", "cross-site")
			})
		}
	}
	for name, own := range map[string]func(*http.Request){
		"its origin": webtest.Header("Origin", "http://localhost:8090"), "no origin": func(*http.Request) {},
		"what browsers say of a page without referrer": func(r *http.Request) {
			r.Header.Set("Origin", "null")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		},
	} {
		if w := s.Do("POST", "/nothing", own); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}

// What changes nothing may be asked for from anywhere: links lead here.
func TestLinksFromOtherSitesWork(t *testing.T) {
	s := webtest.New(t)
	if w := s.Do("GET", "/collections", webtest.Header("Sec-Fetch-Site", "cross-site"),
		webtest.Header("Origin", "https://evil.example")); w.Code != http.StatusOK {
		t.Errorf("%d", w.Code)
	}
}

// Every answer says the same about what a browser may do with it: pages, data,
// errors, refusals, redirections to nowhere and answers without a body.
func TestEveryAnswerHasTheHeadersOfSafety(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for every page")
	}
	s := webtest.New(t)
	type ask struct {
		method, address string
		change          func(*http.Request)
	}
	asks := []ask{
		{
			"GET",
			"/nothing",
			nil,
		}, {"GET", "/shards/none", nil}, {"GET", "/projects/zzz", nil}, {"PUT", "/", nil}, {"OPTIONS", "/", nil}, {"TRACE", "/", nil},
		{"MADE-UP", "/", nil},
		{
			"GET",
			"/?q=%zz",
			nil,
		}, {"GET", "/live?t=none", nil}, {"GET", "/static/none.js", nil}, {"POST", "/nothing", webtest.Header("Sec-Fetch-Site", "cross-site")},
		{
			"GET",
			"/",
			func(r *http.Request) { r.Host = "evil.example" },
		}, {"GET", "/live?t=overview", webtest.Header("Origin", "https://evil.example")},
		{"POST", "/api/v1/locate", webtest.Body(strings.Repeat("x", 1<<20))}, {"GET", "/", webtest.Header("Accept", "application/json")},
	}
	replace := strings.NewReplacer(
		"{ns}",
		"yorkie-meta.documents",
		"{name}",
		"shard-rs-1",
		"{id}",
		webtest.ProjectID(1).Hex(),
		"{ref}",
		"x",
		"{file}",
		"x",
	)
	for _, rt := range web.Routes() {
		asks = append(
			asks,
			ask{rt.Method, replace.Replace(rt.Pattern), nil},
			ask{"HEAD", replace.Replace(rt.Pattern), nil},
			ask{"POST", replace.Replace(rt.Pattern), webtest.Header("Accept", "text/csv")},
		)
	}
	for _, a := range asks {
		if a.change == nil {
			a.change = func(*http.Request) {}
		}
		w := s.Do(a.method, a.address, a.change)
		h := w.Header()
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
			if h.Get(name) != want || len(h.Values(name)) != 1 {
				t.Errorf("%s %s (%d): %s is %q", a.method, a.address, w.Code, name, h.Values(name))
			}
		}
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'",
			"base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s %s (%d): the policy lacks %s", a.method, a.address, w.Code, part)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || strings.Contains(policy, "data:") ||
			strings.Contains(policy, "http") {
			t.Errorf("%s %s: %s", a.method, a.address, policy)
		}
		if cache := h.Get("Cache-Control"); cache != "no-store" && !strings.HasPrefix(a.address, "/static/") {
			t.Errorf("%s %s: cache %q", a.method, a.address, cache)
		}
		if w.Body.Len() > 0 && h.Get("Content-Type") == "" {
			t.Errorf("%s %s (%d): no type", a.method, a.address, w.Code)
		}
		if inside := internals.FindString(w.Body.String()); inside != "" && w.Code >= 400 {
			t.Errorf("%s %s (%d): the answer speaks of %s", a.method, a.address, w.Code, inside)
		}
		for name := range h {
			if name == "Server" || name == "X-Powered-By" || strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s %s: %s", a.method, a.address, name)
			}
		}
	}
}
