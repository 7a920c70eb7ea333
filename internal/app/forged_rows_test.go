package app

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/rules"
	"shardboard/internal/store"
)

// Whoever writes the database of the replicas is still nobody: a session of theirs signs nobody in, an approval counts
// for nothing, a request is not done, and all of it is a critical problem.
func TestWhoWritesTheStoreIsNobody(t *testing.T) {
	r := startReplicasBelow(t, "", func(c *Config) {
		c.Auth = Auth{Mode: "local", Cost: auth.Cost{Memory: 64, Time: 1}}
		c.Approval.Rules.Kinds = []actions.Kind{actions.BalancerOn}
	})
	now := r.a.app.current()
	root := auth.Principal{ID: "user:root", Role: auth.Admin, Method: auth.ByPassword}
	u, err := now.auth.CreateUser(t.Context(), root, auth.NewUser{Name: "anna", Password: "violet lanterns drift north", Role: auth.Admin})
	must.Do(t, err)
	anna := auth.Principal{ID: "user:" + u.ID, Name: "anna", Role: auth.Admin, Method: auth.ByPassword}
	client := r.b.apiClient
	client.token, _, err = now.auth.CreateToken(t.Context(), anna,
		auth.NewToken{Name: "ci", Role: auth.Admin, Expires: time.Now().Add(time.Hour)})
	must.Do(t, err)
	p := client.plan("balancer-on", `{}`)
	plan := p["id"].(string)

	raw := now.db // what somebody with the password of the database can do
	const secret = "a secret that they chose"
	sum := sha256.Sum256([]byte(secret))
	at := time.Now()
	must.Do(t, raw.CreateSession(t.Context(), store.Session{ID: "forged", Hash: sum[:], Subject: anna.ID, Name: "anna", Role: "admin",
		Method: "password", From: "::1", Created: at, Used: at, Expires: at.Add(time.Hour)}, "", store.AuditEntry{What: "x"}))
	stored, err := raw.Approval(t.Context(), plan)
	must.Do(t, err)
	stored.State = string(engine.Approved)
	stored.Body = []byte(`{"Person":"user:bert","Principal":"user:bert","Name":"bert","At":"` + at.UTC().Format(time.RFC3339) + `"}`)
	must.Do(t, raw.SaveApproval(t.Context(), stored))
	by := must.Get(json.Marshal(anna))
	run := must.Get(json.Marshal(map[string]any{"Plan": plan, "Request": map[string]string{"Hash": p["hash"].(string)}}))
	must.Do(t, raw.(store.Requests).AddRequest(t.Context(), store.Request{ID: "forged", Cluster: r.a.app.Watcher().Table().ClusterID,
		What: "run.start", By: by, Body: run, Made: at, Within: time.Minute}))

	for _, one := range []*replica{r.a, r.b} {
		req := must.Get(http.NewRequest(http.MethodGet, one.url, nil))
		req.AddCookie(&http.Cookie{Name: "shardboard", Value: secret})
		res, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
		must.Do(t, err)
		res.Body.Close()
		expect.That(t, res.StatusCode == http.StatusSeeOther && strings.HasPrefix(res.Header.Get("Location"), "/login"),
			"the forged session gets %s to %q", res.Status, res.Header.Get("Location"))
	}
	client.expect(http.StatusConflict, "POST", "/plans/"+plan+"/run", `{"hash":"`+p["hash"].(string)+`"}`)
	seen := func() (tables []string) {
		for _, x := range r.a.app.current().only.now().advising.advisor.Refresh().Items {
			if x.Rule == rules.ForgedRows && x.Severity == rules.Critical {
				tables = append(tables, x.Subject)
			}
		}
		slices.Sort(tables)
		return tables
	}
	want := []string{"plan_approvals", "requests", "sessions"}
	expect.That(t, eventually(settledWithin, func() bool { return slices.Equal(seen(), want) }),
		"problems about %v, want %v", seen(), want)
	refused.As(t, must.Err(raw.PlanRun(t.Context(), plan)), fault.NotFound, "the forged request or approval started a run")
}

// Replicas whose sessions anybody could write do not start, and are told how to make a key.
func TestASharedStoreNeedsASessionKey(t *testing.T) {
	at, err := ReadStore("mongodb://localhost:1/shardboard", "")
	must.Do(t, err)
	c := Config{Listen: "127.0.0.1:0", Auth: Auth{Mode: "local"}, Store: at}
	refused.With(t, c.Check(), fault.Invalid, "openssl genpkey -algorithm ed25519 -out session.key", "without a key")
	c.SessionKey = "session.key"
	expect.NoError(t, c.Check(), "with a key")
	c.Store, c.SessionKey = StoreAddress{}, ""
	expect.NoError(t, c.Check(), "a data directory")
}
