package web_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/changes"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

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
			if ids[op["operationId"]] {
				t.Errorf("operationId %v twice", op["operationId"])
			}
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
		if there[rt.Method+" "+rt.Pattern] {
			t.Errorf("%s %s is there", rt.Method, rt.Pattern)
		}
		expect.Equal(t, off.Do(rt.Method, webtest.AddressOf(rt.Pattern)).Code, http.StatusNotFound,
			"%s %s", rt.Method, rt.Pattern)
		there[rt.Method+" "+rt.Pattern] = true
	}
	if !maps.Equal(there, routed(t, on)) {
		t.Error("more than the routes of actions is missing")
	}
	for _, address := range webtest.PagesWithChanges() {
		page := webtest.ParseHTML(t, off.Do("GET", address).Body.String())
		expect.Equal(t, page.Find(".acts, a[href^='/plans'], a[href^='/runs']").Length(), 0,
			"%s offers what is not there", address)
	}
	expect.Equal(t, off.Do("GET", "/live?t=run:"+webtest.RecordID("running")).Code, http.StatusBadRequest,
		"the topic of a run")
}
