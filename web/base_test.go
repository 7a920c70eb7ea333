package web_test

import (
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestLiveRegionsOfAClusterLeadBelowItsBase(t *testing.T) {
	s := webtest.New(t, atBase)
	render, ok := s.Fragment("overview")
	if !ok {
		t.Fatal("no region")
	}
	var out strings.Builder
	must.Do(t, render(t.Context(), &out, s.View()))
	if !strings.Contains(out.String(), `href="/c/prod/`) || strings.Contains(out.String(), `href="/shards`) {
		t.Error(out.String())
	}
}

func TestPagesOfTheServerAreNotPagesOfACluster(t *testing.T) {
	s := webtest.New(t, atBase)
	for _, path := range []string{"/settings", "/settings/users", "/audit", "/api/v1/tokens", "/metrics", "/healthz", "/api/openapi.json"} {
		expect.Equal(t, s.Do("GET", path).Code, http.StatusNotFound, "%s", path)
	}
}

func TestChangesOfAClusterLeadBelowItsBase(t *testing.T) {
	s := webtest.New(t, atBase, func(d *site.Deps) {
		d.Demo, d.Access.Auth = true, webtest.OnePerson{Who: auth.Principal{ID: "demo", Role: auth.Operator, Method: auth.ByDemo}}
	})
	w := s.Do("POST", "/tour", webtest.Header("Content-Type", "application/x-www-form-urlencoded"), webtest.Body("step=skip&from=/projects"))
	if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || to != "/c/prod/projects#main" {
		t.Errorf("%d to %q: %s", w.Code, to, w.Body)
	}
}

func TestSignInLeadsBackToTheCluster(t *testing.T) {
	s := webtest.New(t, atBase, func(d *site.Deps) { d.Access.Auth = webtest.OnePerson{} })
	w := s.Do("GET", "/projects?page=2")
	if to := w.Header().Get("Location"); to != "/login?next=%2Fc%2Fprod%2Fprojects%3Fpage%3D2" {
		t.Error(to)
	}
}
