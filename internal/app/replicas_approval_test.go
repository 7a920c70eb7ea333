package app

import (
	"net/http"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// What a second person says at the replica that follows is stored by the one that leads. An approval ends with the
// account that gave it, its role, or its token, and stays void when they are given back.
func TestPlansAreApprovedAtAFollowerAsLongAsTheApproverMay(t *testing.T) {
	r := startReplicasBelow(t, "", func(c *Config) {
		c.Auth = Auth{Mode: "local", Cost: auth.Cost{Memory: 64, Time: 1}}
		c.Approval.Rules.Kinds = []actions.Kind{actions.BalancerOn, actions.Merge}
	})
	root := auth.Principal{ID: "user:root", Role: auth.Admin, Method: auth.ByPassword}
	accounts := r.a.app.current().auth
	clientOf := func(name string) (client apiClient, token auth.Token) {
		u, err := accounts.CreateUser(t.Context(), root, auth.NewUser{Name: name, Password: "violet lanterns drift north", Role: auth.Operator})
		must.Do(t, err)
		client = r.b.apiClient
		client.token, token, err = accounts.CreateToken(t.Context(),
			auth.Principal{ID: "user:" + u.ID, Name: name, Role: auth.Operator, Method: auth.ByPassword},
			auth.NewToken{Name: "ci", Role: auth.Operator, Expires: time.Now().Add(time.Hour)})
		must.Do(t, err)
		return client, token
	}
	anna, _ := clientOf("anna")
	bert, _ := clientOf("bert")
	carl, token := clientOf("carl")
	atLeader := anna
	atLeader.at = r.a.at
	stateOf := func(p answer) any {
		a, _ := p["approval"].(map[string]any)
		return a["state"]
	}
	planned := func() (at, confirm string) {
		p := anna.plan("balancer-on", `{}`)
		must.That(t, stateOf(p) == "asked", "%v", p["approval"])
		return "/plans/" + p["id"].(string), `{"hash":"` + p["hash"].(string) + `"}`
	}
	at, confirm := planned()
	other, confirmOther := planned()
	anna.expect(http.StatusConflict, "POST", at+"/run", confirm)
	anna.expect(http.StatusForbidden, "POST", at+"/approve", confirm)
	got := bert.expect(http.StatusOK, "POST", at+"/approve", confirm)
	expect.That(t, stateOf(got) == "approved", "%v", got["approval"])
	void := func(at, confirm, what string) {
		t.Helper()
		atLeader.expect(http.StatusConflict, "POST", at+"/run", confirm)
		got := atLeader.expect(http.StatusOK, "GET", at, "")
		expect.That(t, stateOf(got) == "void", "%s: %v", what, got["approval"])
	}
	carl.expect(http.StatusOK, "POST", other+"/approve", confirmOther)
	must.Do(t, accounts.RevokeToken(t.Context(), root, token.ID))
	void(other, confirmOther, "a revoked token")
	must.Do(t, accounts.DisableUser(t.Context(), root, "bert"))
	void(at, confirm, "a disabled account")
	must.Do(t, accounts.EnableUser(t.Context(), root, "bert"))
	must.Do(t, accounts.SetRole(t.Context(), root, "bert", auth.Viewer))
	void(at, confirm, "an account that may only look")
	must.Do(t, accounts.SetRole(t.Context(), root, "bert", auth.Operator))
	void(at, confirm, "an account that may approve again")
	at, confirm = planned()
	bert.expect(http.StatusOK, "POST", at+"/approve", confirm)
	run := anna.expect(http.StatusAccepted, "POST", at+"/run", confirm)
	expect.That(t, run["by"] != nil, "%v", run)
	bert.expect(http.StatusConflict, "POST", at+"/refuse", `{"reason":"too late"}`)

	split := anna.waitForRun(anna.run(http.StatusAccepted, anna.plan("split", splitAt(1000)), ""))
	undo := anna.expect(http.StatusCreated, "POST", "/runs/"+split["id"].(string)+"/undo", "") // it merges
	expect.Equal(t, stateOf(undo), "asked", "the undo of a run without approval: %v", undo["approval"])
	anna.run(http.StatusConflict, undo, "")
}
