package account_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// tokenMaker keeps the token that it is asked for, and makes it as it was asked.
type tokenMaker struct {
	webtest.StubAuth
	asked *auth.NewToken
}

func (m tokenMaker) CreateToken(_ context.Context, _ auth.Principal, n auth.NewToken) (string, auth.Token, error) {
	*m.asked = n
	made := auth.Token{ID: "t1", Name: n.Name, Role: n.Role, Bound: n.Clusters != nil}
	for name, role := range n.Clusters {
		made.Clusters = append(made.Clusters, auth.TokenCluster{Name: name, Title: strings.ToUpper(name), Given: role, Role: role})
	}
	return "sb_secret", made, nil
}

func TestTheFormBindsATokenToTheClustersThatHaveARole(t *testing.T) {
	var asked auth.NewToken
	me := auth.Principal{ID: "user:9", Name: "anna", Role: auth.ClustersOnly, Method: auth.ByOIDC, Session: "s"}
	s := webtest.New(t, webtest.OfServer(webtest.Clusters()), func(d *site.Deps) {
		d.Access.Auth = tokenMaker{webtest.StubAuth{SignInMode: "oidc", Me: me}, &asked}
	})
	doc := s.Page(t, "/settings")
	expect.That(t, doc.Find(`select[name="on.fine"] option`).Length() == 4 && doc.Find(`select[name="on.prod"] option`).Length() == 2 &&
		doc.Find(`select[name="on.secret"], select[name="role"]`).Length() == 0 && doc.Find("details.bind[open]").Length() == 1,
		"the form offers other roles than those of the person on each cluster: %s", doc.Find("details.bind").Text())
	post := func(pairs ...string) string {
		return s.Do("POST", "/settings/tokens",
			webtest.Form(append([]string{"name", "ci", "days", "7", "role", "viewer"}, pairs...)...)).Body.String()
	}
	body := post("on.fine", "operator", "on.prod", "")
	expect.That(t, asked.Role == "" &&
		maps.Equal(asked.Clusters, map[string]auth.Role{"fine": auth.Operator}) &&
		strings.Contains(body, "It works on FINE (operator), and nowhere else."), "%+v", asked)
	post("on.fine", "")
	expect.That(t, asked.Role == auth.Viewer && asked.Clusters == nil, "%+v", asked)
	w := s.Do("POST", "/api/v1/tokens", webtest.Header("Content-Type", "application/json"),
		webtest.Body(`{"name":"ci","clusters":{"prod":"viewer"},"expires":"2026-05-01T00:00:00Z"}`))
	made := webtest.Decode[api.TokenCreated](t, w)
	expect.That(t, made.Bound && len(made.Clusters) == 1 && made.Clusters[0].Given == "viewer" &&
		asked.Clusters["prod"] == auth.Viewer && asked.Role == "", "%+v", made)
}

func TestTokensAreListedWithTheirRoleOnEachCluster(t *testing.T) {
	me := webtest.Anna
	kept := []auth.Token{
		{ID: "t1", Name: "deploy", Role: auth.ClustersOnly, Owner: me.ID, Expires: webtest.Epoch.AddDate(0, 1, 0), Bound: true,
			Clusters: []auth.TokenCluster{{Name: "prod", Title: "Production", Given: auth.Operator, Role: auth.Support},
				{Name: "old", Title: "old", Given: auth.Viewer, Role: auth.ClustersOnly}}},
		{ID: "t2", Name: "report", Role: auth.Viewer, Owner: me.ID, Expires: webtest.Epoch.AddDate(0, 1, 0),
			Clusters: []auth.TokenCluster{{Name: "fine", Title: "Fine", Role: auth.Viewer},
				{Name: "prod", Title: "Production", Role: auth.ClustersOnly}}},
	}
	s := webtest.New(t, webtest.OfServer(webtest.Clusters()),
		webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: me, KeptTokens: kept}))
	doc := s.Page(t, "/settings")
	var roles []string
	for _, cell := range doc.Find(`td[data-label="Role"] li`).EachIter() {
		roles = append(roles, strings.Join(strings.Fields(cell.Text()), " "))
	}
	if got := strings.Join(roles,
		" | "); got != "Production: support made as operator | old: no access made as viewer | Production: no access" {
		t.Error(got)
	}
	list := webtest.Decode[api.List[api.Token]](t, s.Do("GET", "/api/v1/tokens")).Items
	expect.That(t, list[0].Bound && list[0].Role == "none" && list[0].Clusters[0].Role == "support" && !list[1].Bound &&
		list[1].Clusters[1].Role == "none", "%+v", list)
	one := webtest.New(t, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: me}))
	doc = one.Page(t, "/settings")
	expect.Equal(t, doc.Find("details.bind").Length(), 0, "a server of one cluster offers to bind tokens")
}
