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
