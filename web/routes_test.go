package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"shardboard/web"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestEveryRouteHasAPolicyASummaryAndItsPathParameters(t *testing.T) {
	for _, rt := range web.Routes() {
		if _, known := rt.Policy.Needs(); !known {
			t.Errorf("%s %s has policy %q", rt.Method, rt.Pattern, rt.Policy)
		}
		if rt.Summary == "" || rt.Tag == "" || rt.Handler == nil {
			t.Errorf("%s %s lacks summary, tag or handler", rt.Method, rt.Pattern)
		}
		if rt.Answer == nil && rt.Types == nil {
			t.Errorf("%s %s does not say what it answers", rt.Method, rt.Pattern)
		}
		for _, p := range rt.Params {
			if in := strings.Contains(rt.Pattern, "{"+p.Name+"}"); in != (p.In == "path") {
				t.Errorf("%s: parameter %s is in the %s", rt.Pattern, p.Name, p.In)
			}
		}
		if n := strings.Count(rt.Pattern, "{"); n != len(
			slices.DeleteFunc(slices.Clone(rt.Params), func(p site.Param) bool { return p.In != "path" }),
		) {
			t.Errorf("%s has %d path parameters, described otherwise", rt.Pattern, n)
		}
	}
}

func TestOpenAPIEqualsRouterBothWays(t *testing.T) {
	s := webtest.New(t)
	var doc struct {
		OpenAPI string                               `json:"openapi"`
		Paths   map[string]map[string]map[string]any `json:"paths"`
	}
	w := s.Do("GET", "/api/openapi.json")
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || w.Code != 200 || doc.OpenAPI != "3.1.0" {
		t.Fatalf("status %d, %v", w.Code, err)
	}
	described := map[string]bool{}
	ids := map[any]bool{}
	for path, ops := range doc.Paths {
		for method, op := range ops {
			described[strings.ToUpper(method)+" "+path] = true
			if ids[op["operationId"]] {
				t.Errorf("operationId %v twice", op["operationId"])
			}
			ids[op["operationId"]] = true
			if open := op["x-policy"] == string(guard.PolicyOpen); open == (op["security"] != nil) {
				t.Errorf("%s %s: policy %v with security %v", method, path, op["x-policy"], op["security"])
			}
		}
	}
	routed := map[string]bool{}
	err := chi.Walk(s.Router(web.Routes()), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if method != http.MethodHead { // every GET answers it
			routed[method+" "+route] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for r := range routed {
		if !described[r] {
			t.Errorf("%s is routed and not described", r)
		}
	}
	for r := range described {
		if !routed[r] {
			t.Errorf("%s is described and not routed", r)
		}
	}
}

// TestOpenAPIReferencesExist follows every $ref.
func TestOpenAPIReferencesExist(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(site.OpenAPIDocument(web.Routes(), ""), &doc); err != nil {
		t.Fatal(err)
	}
	named := doc["components"].(map[string]any)["schemas"].(map[string]any)
	refs := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				refs++
				if named[strings.TrimPrefix(ref, "#/components/schemas/")] == nil {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(doc)
	if refs < 20 {
		t.Errorf("only %d references", refs)
	}
}

// TestJSONAnswersMatchTheirSchema compares the top-level fields of every JSON
// answer with the description.
func TestJSONAnswersMatchTheirSchema(t *testing.T) {
	s := webtest.New(t, webtest.WithHistory(t))
	sc := site.NewSchemas()
	for _, rt := range web.Routes() {
		if rt.Tag != "api" || rt.Method != "GET" || rt.Pattern == "/api/v1/locate" {
			continue
		}
		var got map[string]any
		w := s.Do("GET", webtest.AddressOf(rt.Pattern))
		if w.Code != 200 || json.Unmarshal(w.Body.Bytes(), &got) != nil {
			t.Errorf("%s: %d %.200s", rt.Pattern, w.Code, w.Body)
			continue
		}
		name := strings.TrimPrefix(sc.Of(rt.Answer)["$ref"].(string), "#/components/schemas/")
		schema := sc.Named[name].(map[string]any)
		for field := range got {
			if schema["properties"].(map[string]any)[field] == nil {
				t.Errorf("%s: field %s is not described", rt.Pattern, field)
			}
		}
		for _, field := range schema["required"].([]string) {
			if _, ok := got[field]; !ok {
				t.Errorf("%s: field %s is missing", rt.Pattern, field)
			}
		}
	}
}

// everyAddress is a GET of every route, unknown addresses and failures.
func everyAddress() []string {
	var out []string
	for _, rt := range web.Routes() {
		if rt.Method == "GET" {
			out = append(out, webtest.AddressOf(rt.Pattern))
		}
	}
	return append(
		out,
		"/nothing",
		"/api/v1/nothing",
		"/api/v1/plans/x",
		"/collections/",
		"/api/v1/chunks/..%2f",
		"/shards/none",
		"/projects/none",
		"/%00",
	)
}

func TestEveryAnswerCarriesTheSecurityHeaders(t *testing.T) {
	s := webtest.New(t)
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	check := func(what string, w *httptest.ResponseRecorder) {
		t.Helper()
		for name, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s (%d): %s is %q", what, w.Code, name, got)
			}
		}
		if w.Header().Get("Permissions-Policy") == "" {
			t.Errorf("%s: no Permissions-Policy", what)
		}
	}
	for _, address := range everyAddress() {
		check(address, s.Do("GET", address))
		check("POST "+address, s.Do("POST", address))
		check("foreign host "+address, s.Do("GET", address, func(r *http.Request) { r.Host = "evil.example" }))
		check(
			"cross-site "+address,
			s.Do("POST", address, webtest.Header("Origin", "https://evil.example"), webtest.Header("Sec-Fetch-Site", "cross-site")),
		)
	}
}

func TestHEADAnswersLikeGETWithoutABody(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for every page")
	}
	s := webtest.New(t)
	for _, rt := range web.Routes() {
		if rt.Method != "GET" || rt.Pattern == "/live" {
			continue
		}
		get, head := s.Do("GET", webtest.AddressOf(rt.Pattern)), s.Do("HEAD", webtest.AddressOf(rt.Pattern))
		if get.Code != head.Code || head.Body.Len() != 0 && !rt.Stream {
			t.Errorf("%s: GET %d, HEAD %d with %d bytes", rt.Pattern, get.Code, head.Code, head.Body.Len())
		}
		if rt.Pattern != "/metrics" && get.Header().Get("Content-Length") != head.Header().Get("Content-Length") {
			t.Errorf("%s: lengths %q and %q", rt.Pattern, get.Header().Get("Content-Length"), head.Header().Get("Content-Length"))
		}
	}
}

func TestWrongMethodsAndTrailingSlashesAreRefused(t *testing.T) {
	s := webtest.New(t)
	for _, c := range []struct {
		method, target, accept string
		status                 int
		allow, media           string
	}{
		{"POST", "/collections", "text/html", 405, "GET, HEAD", "text/html; charset=utf-8"},
		{"PUT", "/api/v1/locate", "", 405, "GET, HEAD, POST", "application/problem+json"},
		{"DELETE", "/api/v1/collections/a.b", "", 405, "GET, HEAD", "application/problem+json"},
		{"BREW", "/collections", "application/json", 405, "GET, HEAD", "application/problem+json"},
		{"GET", "/collections/", "text/html", 404, "", "text/html; charset=utf-8"},
		{"GET", "/api/v1/shards/", "text/html", 404, "", "application/problem+json"},
		{"GET", "/api/v1/plans/x", "", 404, "", "application/problem+json"},
		{"PUT", "/api/v1/runs", "", 405, "GET, HEAD", "application/problem+json"},
		{"GET", "/nothing", "application/json", 404, "", "application/problem+json"},
		{"GET", "/static/app.css", "", 404, "", "text/html; charset=utf-8"},
		{"GET", "/static/../server.go", "", 404, "", "text/html; charset=utf-8"},
	} {
		w := s.Do(c.method, c.target, webtest.Header("Accept", c.accept))
		if w.Code != c.status || w.Header().Get("Allow") != c.allow || w.Header().Get("Content-Type") != c.media {
			t.Errorf("%s %s: %d %q %q", c.method, c.target, w.Code, w.Header().Get("Allow"), w.Header().Get("Content-Type"))
		}
	}
}
