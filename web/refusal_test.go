package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestOnlyTheClustersRefusalsAreBlamedOnItsUser(t *testing.T) {
	const blame = "The cluster user lacks a privilege"
	s := webtest.New(t, webtest.WithClaims)
	for name, w := range map[string]*httptest.ResponseRecorder{
		"a role":                 s.Do("GET", "/settings/users", webtest.As("anna", auth.Viewer)),
		"a form of another site": s.Do("POST", "/logout", webtest.As("anna", auth.Viewer), webtest.Header("Sec-Fetch-Site", "cross-site")),
	} {
		if text := webtest.ParseHTML(t, w.Body.String()).Find("main").Text(); w.Code != http.StatusForbidden || strings.Contains(text, blame) ||
			strings.Contains(text, "cluster user") {
			t.Errorf("%s: %d %q", name, w.Code, text)
		}
	}
	s.Locator.Answer = func(placement.Query) ([]placement.Item, error) {
		return nil, fault.Wrap(
			fault.Forbidden,
			&topology.DeniedError{Privilege: "find on yorkie-meta.projects"},
			"It lacks find on yorkie-meta.projects.",
		)
	}
	w := s.Do("GET", "/locate?q=x", webtest.As("anna", auth.Support))
	if text := w.Body.String(); !strings.Contains(text, "find on yorkie-meta.projects") {
		t.Errorf("%d %s", w.Code, text)
	}
	out := httptest.NewRecorder()
	_, denied := s.Locator.Answer(placement.Query{})
	s.WriteErrorPage(out, httptest.NewRequest("GET", "/zones", nil), denied)
	if out.Code != http.StatusForbidden || !strings.Contains(out.Body.String(), blame) {
		t.Errorf("a refusal of the cluster: %d %s", out.Code, out.Body)
	}
}

func TestWhoSentATokenIsToldThatItDoesNotCount(t *testing.T) {
	door := webtest.NewDoor(t)
	made := webtest.Decode[api.TokenCreated](
		t,
		door.Call("POST", "/tokens", "operator", `{"name":"ci","role":"viewer","expires":"`+door.Now().Add(time.Hour).Format(time.RFC3339)+`"}`),
	)
	ask := func(authorization string) *httptest.ResponseRecorder {
		return door.Ask(door.Handler(), "GET", "/api/v1/me", webtest.Header("Authorization", authorization))
	}
	if w := ask("Bearer " + made.Secret); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	door.Pass(2 * time.Hour)
	for name, authorization := range map[string]string{"wrong": "Bearer bogus", "expired": "bearer " + made.Secret} {
		w := ask(authorization)
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "it is wrong, expired or revoked") ||
			strings.Contains(
				w.Body.String(),
				"Nobody is signed in",
			) || !strings.Contains(w.Header().Get("WWW-Authenticate"), `error="invalid_token"`) {
			t.Errorf("%s: %d %v %s", name, w.Code, w.Header(), w.Body)
		}
	}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"nothing": door.Ask(door.Handler(), "GET", "/api/v1/me"), "a password": ask("Basic YTpi"),
	} {
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "Send a token") ||
			strings.Contains(w.Header().Get("WWW-Authenticate"), "error") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestAForeignHostIsToldWhatHelpsHere(t *testing.T) {
	for name, c := range map[string]struct {
		change     func(*site.Deps)
		says, hush []string
	}{
		"loopback": {func(*site.Deps) {}, []string{"localhost", "--public-url", "--host"}, nil},
		"exposed":  {func(d *site.Deps) { d.Exposed = true }, []string{"--public-url", "--host"}, []string{"localhost", "127.0.0.1"}},
		"demo":     {func(d *site.Deps) { d.Demo = true }, []string{"localhost"}, []string{"--"}},
	} {
		s := webtest.New(t, c.change)
		for _, address := range []string{"/", "/api/v1/cluster"} {
			w := s.Do("GET", address, func(r *http.Request) { r.Host = "evil.example" })
			text := strings.ReplaceAll(w.Body.String(), "evil.example", "")
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("%s at %s does not say %s: %s", name, address, want, text)
				}
			}
			for _, never := range c.hush {
				if strings.Contains(text, never) {
					t.Errorf("%s at %s says %s: %s", name, address, never, text)
				}
			}
		}
	}
}

// The sentence is that of a demo too, which has no --auth.
func TestWhereAccountsCanBeChangedIsNamed(t *testing.T) {
	w := webtest.New(
		t,
	).Do(
		"POST",
		"/api/v1/tokens",
		webtest.Body(`{"name":"x","role":"viewer","expires":"2026-05-01T00:00:00Z"}`),
		webtest.Header("Content-Type", "application/json"),
	)
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "shardboard serve --auth local") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestPagesOfSigningInLeadHomeWhereNobodyHasTo(t *testing.T) {
	s := webtest.New(t) // sign-in is off
	for _, w := range []*httptest.ResponseRecorder{
		s.Do("GET", "/login"), s.Do("GET", "/login/first?key=x"), s.Do("GET", "/login/oidc/callback?code=x&state=y"),
		s.Do("POST", "/login", webtest.Form("name", "a", "password", "b")),
		s.Do("POST", "/login/first", webtest.Form("key", "x", "name", "a", "password", "b")),
	} {
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" || len(w.Result().Cookies()) > 0 ||
			strings.Contains(w.Body.String(), "<form") {
			t.Errorf("%d %v %.200s", w.Code, w.Header(), w.Body)
		}
	}
}
