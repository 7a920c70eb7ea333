package web_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
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
			if want := method == "post" && path == "/api/v1/locate"; text != want {
				t.Errorf("%s %s takes text: %v", method, path, text)
			}
			if _, form := op.RequestBody.Content[site.MediaForm]; form && strings.HasPrefix(path, "/api/") {
				t.Errorf("%s %s takes a form", method, path)
			}
		}
	}
	if doc.Paths["/api/v1/runs/{id}/undo"]["post"].RequestBody.Required || !doc.Paths["/api/v1/plans"]["post"].RequestBody.Required {
		t.Error("which bodies can be left out")
	}
}
