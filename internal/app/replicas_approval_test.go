package app

import (
	"net/http"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/auth"
)

// What a second person says at the replica that follows is stored by the one that leads.
func TestPlansAreApprovedAtAFollower(t *testing.T) {
	r := startReplicasWith(t, func(c *Config) {
		c.Auth = Auth{Mode: "local", Cost: auth.Cost{Memory: 64, Time: 1}}
		c.Approval.Rules.Kinds = []actions.Kind{actions.BalancerOn}
	})
	tokenOf := func(name string) string {
		s := r.a.app.current().auth
		u, err := s.CreateUser(t.Context(), auth.Principal{ID: "user:root", Role: auth.Admin, Method: auth.ByPassword},
			auth.NewUser{Name: name, Password: "violet lanterns drift north", Role: auth.Operator})
		if err != nil {
			t.Fatal(err)
		}
		secret, _, err := s.CreateToken(t.Context(), auth.Principal{ID: "user:" + u.ID, Name: name, Role: auth.Operator, Method: auth.ByPassword},
			auth.NewToken{Name: "ci", Role: auth.Operator, Expires: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	anna, bert := r.b.apiClient, r.b.apiClient
	anna.token, bert.token = tokenOf("anna"), tokenOf("bert")
	p := anna.expect(http.StatusCreated, "POST", api.Prefix+"/plans", `{"kind":"balancer-on","args":{},"reason":"a test"}`)
	id, _ := p["id"].(string)
	hash, _ := p["hash"].(string)
	at, confirm := api.Prefix+"/plans/"+id, `{"hash":"`+hash+`"}`
	stateOf := func(p answer) any {
		a, _ := p["approval"].(map[string]any)
		return a["state"]
	}
	if stateOf(p) != "asked" {
		t.Fatalf("%v", p["approval"])
	}
	anna.expect(http.StatusConflict, "POST", at+"/run", confirm)
	anna.expect(http.StatusForbidden, "POST", at+"/approve", confirm)
	if got := bert.expect(http.StatusOK, "POST", at+"/approve", confirm); stateOf(got) != "approved" {
		t.Errorf("%v", got["approval"])
	}
	run := anna.expect(http.StatusAccepted, "POST", at+"/run", confirm)
	if run["by"] == nil {
		t.Errorf("%v", run)
	}
	bert.expect(http.StatusConflict, "POST", at+"/refuse", `{"reason":"too late"}`)
}

// An approval ends with the account that gave it, its role, or its token, and counts again with them.
func TestApprovalEndsWithTheAccountThatGaveIt(t *testing.T) {
	r := startReplicasWith(t, func(c *Config) {
		c.Auth = Auth{Mode: "local", Cost: auth.Cost{Memory: 64, Time: 1}}
		c.Approval.Rules.Kinds = []actions.Kind{actions.BalancerOn}
	})
	root := auth.Principal{ID: "user:root", Role: auth.Admin, Method: auth.ByPassword}
	s := r.a.app.current().auth
	made := map[string]auth.Token{}
	clientOf := func(name string) apiClient {
		u, err := s.CreateUser(t.Context(), root, auth.NewUser{Name: name, Password: "violet lanterns drift north", Role: auth.Operator})
		if err != nil {
			t.Fatal(err)
		}
		secret, token, err := s.CreateToken(t.Context(),
			auth.Principal{ID: "user:" + u.ID, Name: name, Role: auth.Operator, Method: auth.ByPassword},
			auth.NewToken{Name: "ci", Role: auth.Operator, Expires: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		made[name] = token
		c := r.a.apiClient
		c.token = secret
		return c
	}
	anna, bert := clientOf("anna"), clientOf("bert")
	p := anna.expect(http.StatusCreated, "POST", api.Prefix+"/plans", `{"kind":"balancer-on","args":{},"reason":"a test"}`)
	id, _ := p["id"].(string)
	hash, _ := p["hash"].(string)
	at, confirm := api.Prefix+"/plans/"+id, `{"hash":"`+hash+`"}`
	bert.expect(http.StatusOK, "POST", at+"/approve", confirm)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what string) {
		t.Helper()
		anna.expect(http.StatusConflict, "POST", at+"/run", confirm)
		a, _ := anna.expect(http.StatusOK, "GET", at, "")["approval"].(map[string]any)
		if a["state"] != "void" {
			t.Errorf("%s: %v", what, a)
		}
	}
	must(s.DisableUser(t.Context(), root, "bert"))
	refused("a disabled account")
	must(s.EnableUser(t.Context(), root, "bert"))
	must(s.SetRole(t.Context(), root, "bert", auth.Viewer))
	refused("an account that may only look")
	must(s.SetRole(t.Context(), root, "bert", auth.Operator))
	if a, _ := anna.expect(http.StatusOK, "GET", at, "")["approval"].(map[string]any); a["state"] != "approved" {
		t.Errorf("with the account as it was: %v", a)
	}
	must(s.RevokeToken(t.Context(), root, made["bert"].ID))
	refused("a revoked token")
}
