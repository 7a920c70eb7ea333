package web_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web"
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
			expect.Equal(t, strings.Contains(rt.Pattern, "{"+p.Name+"}"), (p.In == "path"),
				"%s: whether parameter %s, in the %s, is in the pattern", rt.Pattern, p.Name, p.In)
		}
		if n := strings.Count(rt.Pattern, "{"); n != len(
			slices.DeleteFunc(slices.Clone(rt.Params), func(p site.Param) bool { return p.In != "path" }),
		) {
			t.Errorf("%s has %d path parameters, described otherwise", rt.Pattern, n)
		}
	}
}

// TestOpenAPIReferencesExist follows every $ref.
func TestOpenAPIReferencesExist(t *testing.T) {
	var doc map[string]any
	must.Do(t, json.Unmarshal(site.OpenAPIDocument(web.Routes(), "", ""), &doc))
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
		{"GET", "/collections/", "text/html", 303, "", ""}, // leads to the page
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
