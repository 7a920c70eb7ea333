package auth

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// twoClusters are those of a server on which anna is operator at prod-eu and nobody sees secret.
func twoClusters() []NamedRoles {
	return []NamedRoles{
		{Name: "prod-eu", Title: "Production", Roles: ClusterRoles{"user:anna": "operator", "group:sre": "operator"}},
		{Name: "prod-us", Title: "America"},
		{Name: "secret", Title: "Secret", Roles: ClusterRoles{"everyone": "none"}},
	}
}

func onClusters(list *[]NamedRoles) func(*Options) {
	return func(o *Options) { o.Clusters = func() []NamedRoles { return *list } }
}

func (h *fixture) bound(t *testing.T, by Principal, clusters map[string]Role) (string, Token) {
	t.Helper()
	secret, made, err := h.CreateToken(t.Context(), by, NewToken{Name: "ci", Clusters: clusters, Expires: h.clock().Add(time.Hour)})
	must.Do(t, err)
	return secret, made
}

func TestABoundTokenHasItsRolesOnItsClustersAndNoneElsewhere(t *testing.T) {
	list := twoClusters()
	h := newFixture(t, onClusters(&list))
	h.add(t, "anna", Viewer)
	_, anna := h.signIn(t, "anna")
	secret, made := h.bound(t, anna, map[string]Role{"prod-eu": Operator, "prod-us": Viewer})
	p, err := h.bearer(secret)
	if err != nil || p.Role != ClustersOnly || p.May(Viewer) || !made.Bound || made.Role != ClustersOnly {
		t.Fatalf("%+v, %v", p, err)
	}
	roles := func() (out []string) {
		for _, c := range list {
			role, sees := c.Roles.Of(c.Name, p)
			out = append(out, string(role))
			expect.Equal(t, sees, (role != ""), "%s: %s may look at it", c.Name, role)
		}
		return out
	}
	if got := strings.Join(roles(), ","); got != "operator,viewer," {
		t.Error(got)
	}
	if role, sees := (ClusterRoles)(nil).Of("staging", p); sees {
		t.Errorf("it is %s on a cluster that it is not bound to", role)
	}
	list[0].Roles = ClusterRoles{"user:anna": "support"}
	list[1].Roles = ClusterRoles{"everyone": "none"}
	expect.Equal(t, strings.Join(roles(), ","), "support,,", "it exceeds its owner")
	all, err := h.Tokens(t.Context(), anna)
	if err != nil || len(all) != 1 || len(all[0].Clusters) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	want := []TokenCluster{{"prod-eu", "Production", Operator, Support}, {"prod-us", "America", Viewer, ClustersOnly}}
	if got := all[0].Clusters; got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v", got)
	}
	list = list[2:]
	if all, _ := h.Tokens(t.Context(), anna); len(all[0].Clusters) != 2 || all[0].Clusters[0].Role != ClustersOnly {
		t.Errorf("clusters that are gone are not listed: %+v", all[0].Clusters)
	}
	if r := h.auditRecords(t, auditTokenCreated); len(r) != 1 || r[0].Details["clusters"] != "prod-eu=operator, prod-us=viewer" {
		t.Errorf("%+v", r)
	}
}

func TestATokenIsBoundOnlyToClustersAndRolesOfItsCreator(t *testing.T) {
	list := twoClusters()
	h := newFixture(t, onClusters(&list))
	h.add(t, "anna", Viewer)
	_, anna := h.signIn(t, "anna")
	own, _ := h.bound(t, anna, map[string]Role{"prod-eu": Operator})
	itself, err := h.bearer(own)
	must.Do(t, err)
	for name, tc := range map[string]struct {
		by   Principal
		n    NewToken
		kind fault.Kind
		says string
	}{
		"a greater role there": {anna, NewToken{Clusters: map[string]Role{"prod-us": Support}}, fault.Forbidden,
			"on prod-us than you, who are viewer"},
		"a hidden cluster": {anna, NewToken{Clusters: map[string]Role{"secret": Viewer}}, fault.Invalid, "There is no cluster secret."},
		"no such cluster":  {anna, NewToken{Clusters: map[string]Role{"none": Viewer}}, fault.Invalid, "There is no cluster none."},
		"no such role":     {anna, NewToken{Clusters: map[string]Role{"prod-eu": "none"}}, fault.Invalid, "role on a cluster"},
		"both":             {anna, NewToken{Role: Viewer, Clusters: map[string]Role{"prod-eu": Viewer}}, fault.Invalid, "not both"},
		"no cluster":       {anna, NewToken{Clusters: map[string]Role{}}, fault.Invalid, "1 to 50"},
		"by itself":        {itself, NewToken{Clusters: map[string]Role{"prod-eu": Viewer}}, fault.Forbidden, "admin's token"},
	} {
		tc.n.Name, tc.n.Expires = "ci", h.clock().Add(time.Minute)
		secret, _, err := h.CreateToken(t.Context(), tc.by, tc.n)
		if expectKind(t, name, err, tc.kind); secret != "" || !strings.Contains(fault.Text(err), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	one := newFixture(t)
	one.add(t, "anna", Admin)
	_, anna = one.signIn(t, "anna")
	_, _, err = one.CreateToken(t.Context(), anna,
		NewToken{Name: "ci", Clusters: map[string]Role{"prod": Viewer}, Expires: one.clock().Add(time.Hour)})
	expectKind(t, "on a server of one cluster", err, fault.Invalid)
	secret, made := one.bound(t, Console(), map[string]Role{"prod": Viewer})
	if p, err := one.bearer(secret); err != nil || p.May(Viewer) || made.Clusters[0].Role != Viewer {
		t.Errorf("made without the configuration: %+v %+v, %v", p, made, err)
	}
}
