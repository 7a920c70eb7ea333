package web_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/auth"
	"shardboard/web"
	"shardboard/web/guard"
	"shardboard/web/webtest"
)

// TestDeniedRequestsDoNothing asks the real handlers for all that is refused.
func TestDeniedRequestsDoNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for every page")
	}
	door := webtest.NewAccountServer(t)
	for _, rt := range web.Routes() {
		for _, p := range door.People() {
			want := wanted(rt.Policy, rt.Tag, rt.Pattern, p.Role)
			if want == "reached" {
				continue
			}
			w := door.Ask(door.Handler(), rt.Method, webtest.AddressOf(rt.Pattern), p.Proof)
			if w.Code < 300 || doorOutcome(w, false) != want {
				t.Errorf("%s %s by %s: %d", rt.Method, rt.Pattern, p.Name, w.Code)
			}
			if text := w.Body.String(); strings.Contains(text, "mongos.example") && p.Role == "" ||
				p.Role == "" && strings.Contains(text, "shard-rs-2") {
				t.Errorf("%s %s shows %s the cluster", rt.Method, rt.Pattern, p.Name)
			}
			if w.Code == http.StatusForbidden &&
				!strings.Contains(
					w.Body.String(),
					fmt.Sprintf(
						"This needs the role %s. You have the role %s; an admin can change that.",
						mustNeed(rt.Policy).Label(),
						p.Role.Label(),
					),
				) {
				t.Errorf("%s %s does not tell %s which role is needed: %s", rt.Method, rt.Pattern, p.Name, w.Body)
			}
			if w.Code == http.StatusUnauthorized &&
				(w.Header().Get("WWW-Authenticate") == "" || w.Header().Get("Content-Type") != "application/problem+json") {
				t.Errorf("%s %s: 401 with %v", rt.Method, rt.Pattern, w.Header())
			}
		}
	}
}

// TestAllowedPagesAndListsAnswer asks every GET for each who may.
func TestAllowedPagesAndListsAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for every page")
	}
	door := webtest.NewAccountServer(t, webtest.WithHistory(t))
	for _, rt := range web.Routes() {
		if rt.Method != http.MethodGet || rt.Policy == guard.PolicyOpen || rt.Pattern == "/live" || rt.Pattern == "/history/step" ||
			rt.Pattern == "/advice/{id}/plan" ||
			strings.HasPrefix(rt.Pattern, "/api/v1/locate") ||
			strings.Contains(rt.Pattern, "audit") {
			continue
		}
		for _, p := range door.People() {
			if wanted(rt.Policy, rt.Tag, rt.Pattern, p.Role) != "reached" {
				continue
			}
			if w := door.Ask(door.Handler(), "GET", webtest.AddressOf(rt.Pattern), p.Proof); w.Code != http.StatusOK {
				t.Errorf("GET %s by %s: %d %.200s", rt.Pattern, p.Name, w.Code, w.Body)
			}
		}
	}
}

func mustNeed(p guard.Policy) auth.Role {
	need, _ := p.Needs()
	return need
}

func TestObjectsOfOthersAreNotFound(t *testing.T) {
	door := webtest.NewAccountServer(t)
	ctx := context.Background()
	for _, p := range door.People() {
		if p.Role == "" {
			continue
		}
		owner := door.Principal("owner")
		session := owner.Session
		secret, token, err := door.Service.CreateToken(
			ctx,
			owner,
			auth.NewToken{Name: "ci-" + p.Name, Role: auth.Viewer, Expires: door.Now().AddDate(0, 0, 30)},
		)
		if err != nil || secret == "" {
			t.Fatal(err)
		}
		for _, address := range []string{"/settings/sessions/" + session + "/revoke", "/api/v1/sessions/" + session + "/revoke",
			"/settings/tokens/" + token.ID + "/revoke", "/api/v1/tokens/" + token.ID + "/revoke"} {
			if p.Role == auth.Admin {
				continue // may, and the next test shows it
			}
			if w := door.Ask(door.Handler(), "POST", address, p.Proof, webtest.EncodedForm("")); w.Code != http.StatusNotFound {
				t.Errorf("%s by %s: %d %s", address, p.Name, w.Code, w.Body)
			}
		}
		for _, address := range []string{"/api/v1/sessions", "/api/v1/tokens", "/settings"} {
			if p.Role == auth.Admin {
				continue
			}
			if w := door.Ask(door.Handler(), "GET", address, p.Proof); strings.Contains(w.Body.String(), session) ||
				strings.Contains(w.Body.String(), token.ID) {
				t.Errorf("%s shows %s what is another's", address, p.Name)
			}
		}
		if door.Service.Check(ctx, owner) != nil {
			t.Fatalf("%s ended another's session", p.Name)
		}
	}
}
