package auth

import (
	"testing"

	"shardboard/internal/fixture/expect"
)

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
		if CheckClusterRole(who, role) == "" {
			t.Errorf("%s: %s was accepted", who, role)
		}
	}
}
