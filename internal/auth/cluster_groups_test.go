package auth

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
)

func TestAGroupHasARoleOnACluster(t *testing.T) {
	roles := ClusterRoles{"everyone": "none", "role:admin": "same", "group:sre": "operator", "group:readers": "viewer", "group:left": "none",
		"group:staff": "same", "oidc:x:1": "support"}
	person := func(id string, role Role, groups ...string) Principal {
		return Principal{ID: "oidc:x:" + id, Name: "Anna", Role: role, Method: ByOIDC, Groups: groups}
	}
	token := func(groups ...string) Principal {
		return Principal{ID: "token:t", Role: Operator, Method: ByToken, Owner: "oidc:x:2", OwnerRole: Operator, Groups: groups}
	}
	for name, c := range map[string]struct {
		who  Principal
		role Role
		sees bool
	}{
		"one group":                     {person("2", ClustersOnly, "other", "sre"), Operator, true},
		"the greatest of its groups":    {person("2", ClustersOnly, "readers", "sre", "left"), Operator, true},
		"a group that sees nothing":     {person("2", Viewer, "left"), "", false},
		"as on the server":              {person("2", Support, "staff"), Support, true},
		"as on the server, where none":  {person("2", ClustersOnly, "staff"), "", false},
		"a group before a role":         {person("2", Admin, "readers"), Viewer, true},
		"no group of these":             {person("2", Admin, "others"), Admin, true},
		"a person before their groups":  {person("1", Viewer, "sre"), Support, true},
		"nobody":                        {person("2", Viewer), "", false},
		"a token has its owner's group": {token("readers"), Viewer, true},
		"a token without a group":       {token(), "", false},
	} {
		if role, sees := roles.Of("prod", c.who); role != c.role || sees != c.sees {
			t.Errorf("%s: %q %v, want %q %v", name, role, sees, c.role, c.sees)
		}
	}
	for who, wrong := range map[string]bool{"group:sre": false, "group:/org/sre": false, "group:urn:x:y": false, "group:": true} {
		expect.Equal(t, (CheckClusterRole(who, "viewer") != ""), wrong, "%s: is wrong", who)
	}
}

func TestSomebodyWithAGroupOfOneClusterOnlyMaySignIn(t *testing.T) {
	list := twoClusters()
	issuer := issuerWithGroups("sre", "others")
	h := newFixture(t, withIssuer(issuer), onClusters(&list))
	c, err := h.callback(t)
	must.Do(t, err)
	p, err := h.identify(c)
	if err != nil || p.Role != ClustersOnly || p.May(Viewer) || !p.May(ClustersOnly) || strings.Join(p.Groups, ",") != "sre,others" {
		t.Fatalf("%+v, %v", p, err)
	}
	eu, us := h.OnCluster("prod-eu", func() ClusterRoles { return list[0].Roles }), h.OnCluster("prod-us",
		func() ClusterRoles { return list[1].Roles })
	in, err := eu.Identify(nil, newRequest("192.0.2.1", c))
	expect.That(t, err == nil && in.Role == Operator && eu.Check(t.Context(), in) == nil, "%+v, %v", in, err)
	if out, err := us.Identify(nil, newRequest("192.0.2.1", c)); err != nil || us.Sees(out) {
		t.Errorf("a cluster without roles is seen: %+v, %v", out, err)
	}
	// A changed configuration counts at once, also for groups that it did not name at the sign-in.
	list[0].Roles = ClusterRoles{"group:others": "viewer"}
	expect.That(t, eu.Check(t.Context(), in) != nil, "what was begun with the former role goes on")
	if in, err = eu.Identify(nil, newRequest("192.0.2.1", c)); err != nil || in.Role != Viewer {
		t.Errorf("%+v, %v", in, err)
	}
	// Tokens have the groups of their owner, who has no account here.
	secret, _ := h.bound(t, p, map[string]Role{"prod-eu": Viewer})
	made, err := h.bearer(secret)
	if role, sees := list[0].Roles.Of("prod-eu", made); err != nil || role != Viewer || !sees {
		t.Errorf("%+v: %s, %v", made, role, err)
	}
	_, _, err = h.CreateToken(t.Context(), p, NewToken{Name: "ci", Role: Viewer, Expires: h.clock().Add(time.Hour)})
	refused.As(t, err, fault.Forbidden, "a token for the server")

	issuer.claims.Groups = []string{"strangers"}
	list[0].Roles = ClusterRoles{"everyone": "viewer", "group:sre": "operator"}
	if _, err = h.callback(t); fault.Of(err) != fault.Forbidden {
		t.Errorf("everybody at the issuer may sign in: %v", err)
	}
	expect.Contains(t, h.log.String(), "or in the roles of a cluster", "the log does not say what to change")
}

func TestOfManyGroupsThoseThatClustersNameAreKept(t *testing.T) {
	list := twoClusters()
	var groups []string
	for i := range 5_000 {
		groups = append(groups, fmt.Sprintf("group-%d", i))
	}
	kept := keptGroups(append(groups, "sre"), list)
	expect.That(t, len(kept) == maxKeptGroups && kept[0] == "sre" && kept[1] == "group-0", "%d: %.3q", len(kept), kept)
	expect.Equal(t, len(keptGroups([]string{strings.Repeat("x", maxKeptGroupBytes), "sre"}, list)), 1, "groups that are kept")
	if kept := keptGroups(groups, nil); kept != nil {
		t.Errorf("a server of one cluster keeps %d groups", len(kept))
	}
}

func TestSignInAtAnIssuerNeedsARoleForSomeGroup(t *testing.T) {
	h := newFixture(t)
	none := Options{Store: h.db, Mode: ModeOIDC, Issuer: issuerWithGroups()}
	refused.As(t, must.Err(New(none)), fault.Invalid, "New")
	list := twoClusters()
	onClusters(&list)(&none)
	expect.NoError(t, must.Err(New(none)), "New")
	list = list[1:]
	refused.As(t, must.Err(New(none)), fault.Invalid, "New")
}

func TestRoleOnAClusterIsThatOfTheMostExactEntry(t *testing.T) {
	roles := ClusterRoles{"everyone": "none", "role:operator": "viewer", "role:admin": "same", "user:anna": "operator", "proxy:kim": "support",
		"token:t9": "viewer"}
	user := func(name string, role Role) Principal {
		return Principal{ID: "user:17", Name: name, Role: role, Method: ByPassword}
	}
	token := func(id string, role, owner Role) Principal {
		return Principal{ID: "token:" + id, Name: "anna", Role: role, Method: ByToken, Owner: "user:3", OwnerName: "bob", OwnerRole: owner}
	}
	annas := token("t1", Admin, Admin)
	annas.OwnerName = "anna"
	for name, c := range map[string]struct {
		who  Principal
		role Role
		sees bool
	}{
		"named":                            {user("anna", Viewer), Operator, true},
		"by role, lowered":                 {user("bob", Operator), Viewer, true},
		"by role, same":                    {user("bob", Admin), Admin, true},
		"everyone else":                    {user("bob", Viewer), "", false},
		"a proxy's name":                   {Principal{ID: "proxy:kim", Name: "kim", Role: Viewer, Method: ByProxy}, Support, true},
		"a proxy's name is no account's":   {Principal{ID: "proxy:anna", Name: "anna", Role: Viewer, Method: ByProxy}, "", false},
		"an issuer's name is no account's": {Principal{ID: "oidc:x:1", Name: "anna", Role: Support, Method: ByOIDC}, "", false},
		"a token of a hidden owner":        {token("t1", Viewer, Viewer), "", false},
		"a token of a lowered owner":       {token("t1", Operator, Operator), Viewer, true},
		"a token does not rise":            {token("t1", Viewer, Admin), Viewer, true},
		"a token of a named owner":         {annas, Operator, true},
		"a token that is named":            {token("t9", Admin, Viewer), Viewer, true},
		"break-glass":                      {Principal{ID: "user:1", Name: "glass", Role: Admin, Method: ByBreakGlass}, Admin, true},
		"sign-in is off":                   {Local(), Admin, true},
		"nobody":                           {Principal{}, "", true},
	} {
		if role, sees := roles.Of("prod", c.who); role != c.role || sees != c.sees {
			t.Errorf("%s: %q %v, want %q %v", name, role, sees, c.role, c.sees)
		}
	}
	if role, sees := (ClusterRoles)(nil).Of("prod", user("bob", Support)); role != Support || !sees {
		t.Errorf("without entries: %q %v", role, sees)
	}
}

func TestEntriesOfClusterRolesAreChecked(t *testing.T) {
	for who, role := range map[string]string{"everyone": "none", "role:viewer": "same", "user:anna": "operator", "oidc:a:b": "admin",
		"proxy:x": "viewer"} {
		expect.Equal(t, CheckClusterRole(who, role), "", "%s: %s", who, role)
	}
	for who, role := range map[string]string{"anna": "viewer", "user:": "viewer", "role:boss": "viewer", "groups:sre": "viewer",
		"user:anna": "boss"} {
		expect.That(t, CheckClusterRole(who, role) != "", "%s: %s was accepted", who, role)
	}
}
