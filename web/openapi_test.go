package web_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
	"shardboard/web"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestTheDescriptionNamesTheStatusesAndBodiesThatThereAre(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct {
			Responses   map[string]any
			RequestBody struct {
				Required bool
				Content  map[string]any
			}
		}
	}
	must.Do(t, json.Unmarshal(webtest.New(t).Do("GET", "/api/openapi.json").Body.Bytes(), &doc))
	for route, want := range map[string]string{
		"post /api/v1/plans": "201", "post /api/v1/plans/{id}/run": "200 202", "post /api/v1/runs/{id}/undo": "201",
		"post /api/v1/runs/{id}/stop": "200",
		"get /api/v1/plans/{id}":      "200", "post /api/v1/surveys": "202", "get /live": "101 200", "post /plans": "303",
		"get /history/step": "303", "get /advice/{id}/plan": "303", "get /readyz": "200 503",
		"get /": "200 303 304", "get /api/v1/zones": "200 304", "post /locate/bulk": "200 303", "post /login/oidc": "200 303",
	} {
		method, path, _ := strings.Cut(route, " ")
		var got []string
		for status := range doc.Paths[path][method].Responses {
			if status != "default" {
				got = append(got, status)
			}
		}
		slices.Sort(got)
		expect.Equal(t, strings.Join(got, " "), want, "%s: %v", route, got)
	}
	for path, ops := range doc.Paths {
		for method, op := range ops {
			_, text := op.RequestBody.Content["text/plain"]
			expect.Equal(t, text, method == "post" && path == "/api/v1/locate", "%s %s takes text", method, path)
			_, form := op.RequestBody.Content[site.MediaForm]
			expect.That(t, !form || !strings.HasPrefix(path, "/api/"), "%s %s takes a form", method, path)
		}
	}
	if doc.Paths["/api/v1/runs/{id}/undo"]["post"].RequestBody.Required || !doc.Paths["/api/v1/plans"]["post"].RequestBody.Required {
		t.Error("which bodies can be left out")
	}
}

func TestShapesOfListsAndFigures(t *testing.T) {
	s := webtest.New(t)
	var list struct {
		Items []map[string]any `json:"items"`
		Next  any              `json:"next"`
		AsOf  string           `json:"asOf"`
		Stale *bool            `json:"stale"`
	}
	w := s.Do("GET", "/api/v1/collections")
	must.Do(t, json.Unmarshal(w.Body.Bytes(), &list))
	expect.That(t, list.Next == nil && list.AsOf == "2026-03-01T12:00:00Z" && list.Stale != nil && !*list.Stale && len(list.Items) == 5,
		"%s", w.Body)
	for _, row := range list.Items {
		if row["ns"] != "yorkie-meta.documents" {
			continue
		}
		key, _ := json.Marshal(row["key"])
		expect.Equal(t, string(key), `{"project_id":{"$numberInt":"1"}}`, "key %s", key)
		part := row["shards"].([]any)[1].(map[string]any)
		text, _ := json.Marshal(part["bytes"])
		expect.That(t, part["shard"] == "shard-rs-1" && part["chunks"].(float64) == 84 &&
			string(text) == `{"at":"2026-03-01T12:00:00Z","exact":false,"method":"collStats","value":1000}`, "%v %s", part, text)
	}
	var unknown map[string]any
	w = s.Do("GET", "/api/v1/collections/yorkie-meta.changes")
	_ = json.Unmarshal(w.Body.Bytes(), &unknown)
	text, _ := json.Marshal(unknown["bytes"])
	expect.Equal(t, string(text), `{"reason":"notLoaded","value":null}`, "unknown: %s", text)
	for _, address := range []string{"/api/v1/zones", "/api/v1/activity?ns=none"} {
		w := s.Do("GET", address)
		expect.ContainsAll(t, w.Body.String(), []string{`"items":[`, `"next":null`}, "%s", address)
	}
}

func TestNamesInAddressesAreUnescapedOnce(t *testing.T) {
	s := webtest.New(t)
	ns := "weird.a/b,c@1%2F ü"
	for _, suffix := range []string{"", "/chunks", "/map"} {
		w := s.Do("GET", "/api/v1/collections/"+url.PathEscape(ns)+suffix)
		expect.That(t, w.Code == 200, "%s: %d %s", suffix, w.Code, w.Body)
	}
	expect.Equal(t, webtest.Decode[api.CollectionDetail](t, s.Do("GET", "/api/v1/collections/"+url.PathEscape(ns))).NS, ns, "ns")
	got := webtest.Decode[api.ShardDetail](t, s.Do("GET",
		"/api/v1/shards/"+url.PathEscape(webtest.HostileName)))
	expect.Equal(t, got.Name, webtest.HostileName, "shard")
	expect.Equal(t, s.Do("GET", "/collections/"+url.PathEscape(ns)).Code, 200, "the page")
	expect.That(t, len(s.Watcher.Seen) != 0 && s.Watcher.Seen[0] == topology.Namespace(ns), "viewed %q", s.Watcher.Seen)
}

func TestWhatWasNeverReadIsNotAnEmptyList(t *testing.T) {
	s := webtest.New(t)
	for name, c := range map[string]struct {
		health topology.Health
		status int
		text   string
	}{
		"denied": {topology.Health{Denied: true, Privilege: "find on config.tags", Err: fault.New(fault.Forbidden, "no")}, 403,
			"find on config.tags"},
		"failed": {topology.Health{Err: fault.New(fault.Unavailable, "The config servers do not answer.")}, 503, "do not answer"},
		"early":  {topology.Health{}, 503, "not read yet"},
	} {
		table := *s.Watcher.Get()
		table.Health = maps.Clone(table.Health)
		table.Health[topology.PartZones], table.Health[topology.PartEvents] = c.health, c.health
		s.Watcher.Publish(&table)
		for _, address := range []string{"/api/v1/zones", "/api/v1/activity"} {
			w := s.Do("GET", address)
			expect.That(t, w.Code == c.status && strings.Contains(w.Body.String(), c.text), "%s: %s %d %s", name, address, w.Code, w.Body)
		}
		for _, address := range []string{"/zones", "/activity", "/", "/api/v1/cluster", "/api/v1/collections"} {
			expect.Equal(t, s.Do("GET", address).Code, 200, "%s: %s", name, address)
		}
	}
}

func TestEveryRouteHasAPolicyASummaryAndItsPathParameters(t *testing.T) {
	for _, rt := range web.Routes() {
		_, known := rt.Policy.Needs()
		expect.That(t, known, "%s %s has policy %q", rt.Method, rt.Pattern, rt.Policy)
		expect.That(t, rt.Summary != "" && rt.Tag != "" && rt.Handler != nil, "%s %s lacks summary, tag or handler", rt.Method, rt.Pattern)
		expect.That(t, rt.Answer != nil || rt.Types != nil, "%s %s does not say what it answers", rt.Method, rt.Pattern)
		for _, p := range rt.Params {
			expect.Equal(t, strings.Contains(rt.Pattern, "{"+p.Name+"}"), (p.In == "path"),
				"%s: whether parameter %s, in the %s, is in the pattern", rt.Pattern, p.Name, p.In)
		}
		n := strings.Count(rt.Pattern, "{")
		expect.That(t, n == len(slices.DeleteFunc(slices.Clone(rt.Params), func(p site.Param) bool { return p.In != "path" })),
			"%s has %d path parameters, described otherwise", rt.Pattern, n)
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
				expect.That(t, named[strings.TrimPrefix(ref, "#/components/schemas/")] != nil, "%s leads nowhere", ref)
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
	expect.That(t, refs >= 20, "only %d references", refs)
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
		expect.That(t, w.Code == c.status && w.Header().Get("Allow") == c.allow && w.Header().Get("Content-Type") == c.media,
			"%s %s: %d %q %q", c.method, c.target, w.Code, w.Header().Get("Allow"), w.Header().Get("Content-Type"))
	}
}
