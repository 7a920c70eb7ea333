package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/auth"
	"shardboard/web/guard"
)

// TestDeniedRequestsDoNothing asks the real handlers for all that is refused.
func TestDeniedRequestsDoNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("asks for every page")
	}
	door := newDoor(t)
	for _, rt := range routes() {
		for _, p := range door.people() {
			want := wanted(rt.Policy, rt.Tag, rt.Pattern, p.role)
			if want == "reached" {
				continue
			}
			w := door.ask(door.Handler(), rt.Method, target(rt.Pattern), p.proof)
			if w.Code < 300 || doorOutcome(w, false) != want {
				t.Errorf("%s %s by %s: %d", rt.Method, rt.Pattern, p.name, w.Code)
			}
			if text := w.Body.String(); strings.Contains(text, "mongos.example") && p.role == "" ||
				p.role == "" && strings.Contains(text, "shard-rs-2") {
				t.Errorf("%s %s shows %s the cluster", rt.Method, rt.Pattern, p.name)
			}
			if w.Code == http.StatusForbidden &&
				!strings.Contains(
					w.Body.String(),
					fmt.Sprintf(
						"This needs the role %s. You have the role %s; an admin can change that.",
						mustNeed(rt.Policy).Label(),
						p.role.Label(),
					),
				) {
				t.Errorf("%s %s does not tell %s which role is needed: %s", rt.Method, rt.Pattern, p.name, w.Body)
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
	door := newDoor(t, withHistory(t))
	for _, rt := range routes() {
		if rt.Method != http.MethodGet || rt.Policy == guard.PolicyOpen || rt.Pattern == "/live" || rt.Pattern == "/history/step" ||
			strings.HasPrefix(rt.Pattern, "/api/v1/locate") ||
			strings.Contains(rt.Pattern, "audit") {
			continue
		}
		for _, p := range door.people() {
			if wanted(rt.Policy, rt.Tag, rt.Pattern, p.role) != "reached" {
				continue
			}
			if w := door.ask(door.Handler(), "GET", target(rt.Pattern), p.proof); w.Code != http.StatusOK {
				t.Errorf("GET %s by %s: %d %.200s", rt.Pattern, p.name, w.Code, w.Body)
			}
		}
	}
}

func mustNeed(p guard.Policy) auth.Role {
	need, _ := p.Needs()
	return need
}

func TestOthersObjectsAreNotThere(t *testing.T) {
	door := newDoor(t)
	ctx := context.Background()
	for _, p := range door.people() {
		if p.role == "" {
			continue
		}
		owner := door.principal("owner")
		session := owner.Session
		secret, token, err := door.service.CreateToken(
			ctx,
			owner,
			auth.NewToken{Name: "ci-" + p.name, Role: auth.Viewer, Expires: door.now().AddDate(0, 0, 30)},
		)
		if err != nil || secret == "" {
			t.Fatal(err)
		}
		for _, address := range []string{"/settings/sessions/" + session + "/revoke", "/api/v1/sessions/" + session + "/revoke",
			"/settings/tokens/" + token.ID + "/revoke", "/api/v1/tokens/" + token.ID + "/revoke"} {
			if p.role == auth.Admin {
				continue // may, and the next test shows it
			}
			if w := door.ask(door.Handler(), "POST", address, p.proof, form0("")); w.Code != http.StatusNotFound {
				t.Errorf("%s by %s: %d %s", address, p.name, w.Code, w.Body)
			}
		}
		for _, address := range []string{"/api/v1/sessions", "/api/v1/tokens", "/settings"} {
			if p.role == auth.Admin {
				continue
			}
			if w := door.ask(door.Handler(), "GET", address, p.proof); strings.Contains(w.Body.String(), session) ||
				strings.Contains(w.Body.String(), token.ID) {
				t.Errorf("%s shows %s what is another's", address, p.name)
			}
		}
		if door.service.Check(ctx, owner) != nil {
			t.Fatalf("%s ended another's session", p.name)
		}
	}
}
