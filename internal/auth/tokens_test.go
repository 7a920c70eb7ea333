package auth

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
)

// token creates a token that lasts an hour.
func (h *fixture) token(t *testing.T, by Principal, role Role) (string, Token) {
	t.Helper()
	secret, made, err := h.CreateToken(t.Context(), by, NewToken{Name: "ci", Role: role, Expires: h.clock().Add(time.Hour)})
	must.Do(t, err)
	return secret, made
}

func (h *fixture) bearer(secret string) (Principal, error) {
	return h.identify(nil, "Authorization", "Bearer "+secret)
}

func TestTokensHaveAFormatThatSecretScannersFind(t *testing.T) {
	h := newFixture(t)
	secret, _ := h.token(t, Console(), Viewer)
	expect.That(t, regexp.MustCompile(`^sb_[a-z2-7]{59}$`).MatchString(secret) && hasTokenFormat(secret), "%v", secret)
	for i := len(TokenPrefix); i < len(secret); i++ {
		other := byte('a')
		if secret[i] == 'a' {
			other = 'b'
		}
		if wrong := secret[:i] + string(other) + secret[i+1:]; hasTokenFormat(wrong) {
			t.Errorf("a changed character at %d is not detected", i)
		}
	}
	for _, wrong := range []string{"", "sb_", secret[:len(secret)-1], secret + "a", strings.ToUpper(secret), " " + secret} {
		expect.That(t, !hasTokenFormat(wrong), "an invalid token is accepted: %q", wrong)
	}
}

func TestTokensWorkUntilTheyExpireOrAreRevoked(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Operator)
	_, anna := h.signIn(t, "anna")
	secret, made := h.token(t, anna, Support)
	p, err := h.bearer(secret)
	if err != nil || p.ID != "token:"+made.ID || p.Role != Support || p.Method != ByToken || p.Session != "" || made.Owner != anna.ID {
		t.Fatalf("unexpected principal %+v, error %v", p, err)
	}
	if list, err := h.Tokens(t.Context(), anna); err != nil || len(list) != 1 || list[0].Used.IsZero() {
		t.Errorf("its last use is not stored: %+v, %v", list, err)
	}
	ended := h.ended(p)
	must.Do(t, h.RevokeToken(t.Context(), anna, made.ID))
	expect.That(t, closed(ended) && h.Check(t.Context(), p) != nil, "its sockets stay open")
	expectAnonymous(t, "revoked")(h.bearer(secret))
	refused.As(t, h.RevokeToken(t.Context(), anna, made.ID), fault.Conflict, "once more")
	secret, _ = h.token(t, anna, Support)
	h.advance(time.Hour)
	expectAnonymous(t, "expired")(h.bearer(secret))
}

func TestATokensRoleNeverExceedsItsOwnersCurrentRole(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Operator)
	_, anna := h.signIn(t, "anna")
	secret, _ := h.token(t, anna, Operator)
	p, err := h.bearer(secret)
	must.Do(t, err)
	ended := h.ended(p)
	must.Do(t, h.SetRole(t.Context(), Console(), "anna", Viewer))
	expect.That(t, closed(ended) && h.Check(t.Context(), p) != nil, "sockets with the former role stay open")
	if p, err = h.bearer(secret); err != nil || p.Role != Viewer {
		t.Errorf("unexpected principal %+v, error %v", p, err)
	}
	must.Do(t, h.DisableUser(t.Context(), Console(), "anna"))
	expectAnonymous(t, "a disabled owner")(h.bearer(secret))
}

func TestTokensCannotHaveMoreRightsThanTheirCreator(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Support)
	_, anna := h.signIn(t, "anna")
	good := NewToken{Name: "ci", Role: Viewer, Expires: h.clock().Add(time.Hour)}
	outside := Principal{ID: "oidc:x:y", Role: Admin, Method: ByOIDC}
	for name, tc := range map[string]struct {
		by     Principal
		change func(*NewToken)
		kind   fault.Kind
	}{
		"nobody":             {Principal{}, func(*NewToken) {}, fault.Forbidden},
		"a greater role":     {anna, func(n *NewToken) { n.Role = Operator }, fault.Forbidden},
		"no role":            {anna, func(n *NewToken) { n.Role = "root" }, fault.Invalid},
		"no name":            {anna, func(n *NewToken) { n.Name = "" }, fault.Invalid},
		"a long name":        {anna, func(n *NewToken) { n.Name = strings.Repeat("x", 101) }, fault.Invalid},
		"no end":             {anna, func(n *NewToken) { n.Expires = time.Time{} }, fault.Invalid},
		"an end that was":    {anna, func(n *NewToken) { n.Expires = h.clock() }, fault.Invalid},
		"two years":          {anna, func(n *NewToken) { n.Expires = h.clock().AddDate(2, 0, 0) }, fault.Invalid},
		"an outsider's year": {outside, func(n *NewToken) { n.Expires = h.clock().AddDate(0, 3, 0) }, fault.Invalid},
	} {
		n := good
		tc.change(&n)
		secret, _, err := h.CreateToken(t.Context(), tc.by, n)
		expect.Equal(t, secret, "", "%s: the token was created", name)
		refused.As(t, err, tc.kind, "%s", name)
	}
}

func TestATokenCreatedByATokenHasTheSameOwnerAndNoLaterExpiry(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Admin)
	_, anna := h.signIn(t, "anna")
	secret, _ := h.token(t, anna, Admin)
	p, err := h.bearer(secret)
	must.Do(t, err)
	_, _, err = h.CreateToken(t.Context(), p, NewToken{Name: "x", Role: Viewer, Expires: h.clock().Add(2 * time.Hour)})
	refused.As(t, err, fault.Invalid, "a later end")
	_, child, err := h.CreateToken(t.Context(), p, NewToken{Name: "x", Role: Viewer, Expires: h.clock().Add(time.Minute)})
	expect.That(t, err == nil && child.Owner == anna.ID, "unexpected token %+v, error %v", child, err)
}

func TestPeopleSeeAndRevokeTheirOwnTokensAndAdminsAll(t *testing.T) {
	h := newFixture(t)
	for name, role := range map[string]Role{"anna": Viewer, "ben": Viewer, "root": Admin} {
		h.add(t, name, role)
	}
	_, anna := h.signIn(t, "anna")
	_, ben := h.signIn(t, "ben")
	_, root := h.signIn(t, "root")
	_, made := h.token(t, anna, Viewer)
	for _, tc := range []struct {
		by   Principal
		want int
	}{{anna, 1}, {ben, 0}, {root, 1}} {
		if list, err := h.Tokens(t.Context(), tc.by); err != nil || len(list) != tc.want {
			t.Errorf("%s sees %d, %v", tc.by.Name, len(list), err)
		}
	}
	refused.As(t, h.RevokeToken(t.Context(), ben, made.ID), fault.NotFound, "another one's token")
	must.Do(t, h.RevokeToken(t.Context(), root, made.ID))
}

func TestAWrongTokenIsRefusedDespiteAValidCookie(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	c, _ := h.signIn(t, "anna")
	for _, header := range []string{"Bearer ", "Bearer x", "Basic YTpi", "", "bearer sb_"} {
		expectAnonymous(t, header)(h.Identify(httptest.NewRecorder(), newRequest("192.0.2.1", c, "Authorization", header)))
	}
}

func TestATokenBelowAdminIsNotItsOwner(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Admin)
	h.add(t, "vera", Viewer)
	for _, owner := range []string{"anna", "vera"} {
		_, p := h.signIn(t, owner)
		for _, role := range []Role{Viewer, Support, Operator} {
			if !p.May(role) {
				continue
			}
			what := owner + "'s " + string(role)
			_, other := h.token(t, p, role)
			secret, own := h.token(t, p, role)
			token, err := h.bearer(secret)
			must.Do(t, err)
			if list, err := h.Sessions(t.Context(), token); err != nil || len(list) != 0 {
				t.Errorf("%s token sees sessions: %+v, %v", what, list, err)
			}
			if list, err := h.Tokens(t.Context(), token); err != nil || len(list) != 1 || list[0].ID != own.ID {
				t.Errorf("%s token sees tokens: %+v, %v", what, list, err)
			}
			refused.As(t, h.Revoke(t.Context(), token, p.Session), fault.NotFound, "%s", what+" token ends a session")
			refused.As(t, h.RevokeToken(t.Context(), token, other.ID), fault.NotFound, "%s", what+" token revokes another")
			_, _, err = h.CreateToken(t.Context(), token, NewToken{Name: "x", Role: Viewer, Expires: h.clock().Add(time.Minute)})
			refused.As(t, err, fault.Forbidden, "%s", what+" token makes another")
			must.That(t, h.Check(t.Context(), p) == nil, "%s token ended its owner's session", what)
			expect.NoError(t, h.RevokeToken(t.Context(), token, own.ID), "%s token cannot end itself", what)
			expectAnonymous(t, what)(h.bearer(secret))
		}
	}
}

func TestAnAdminTokenOfAFormerAdminSeesOnlyItself(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Admin)
	h.add(t, "root", Admin)
	_, anna := h.signIn(t, "anna")
	_, root := h.signIn(t, "root")
	secret, _ := h.token(t, anna, Admin)
	token, err := h.bearer(secret)
	must.Do(t, err)
	if list, err := h.Sessions(t.Context(), token); err != nil || len(list) != 2 {
		t.Errorf("an admin's token sees %+v, %v", list, err)
	}
	must.Do(t, h.SetRole(t.Context(), root, "anna", Operator))
	token, err = h.bearer(secret)
	must.Do(t, err)
	if list, err := h.Sessions(t.Context(), token); err != nil || len(list) != 0 {
		t.Errorf("it sees %+v, %v", list, err)
	}
	refused.As(t, h.Revoke(t.Context(), token, root.Session), fault.NotFound, "it ends a session")
	_, _, err = h.CreateToken(t.Context(), token, NewToken{Name: "x", Role: Viewer, Expires: h.clock().Add(time.Minute)})
	refused.As(t, err, fault.Forbidden, "it makes another")
}

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
			expect.Equal(t, sees, role != "", "%s: %s may look at it", c.Name, role)
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
	must.That(t, err == nil && len(all) == 1 && len(all[0].Clusters) == 2, "%+v, %v", all, err)
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
		if refused.As(t, err, tc.kind, "%s", name); secret != "" || !strings.Contains(fault.Text(err), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	one := newFixture(t)
	one.add(t, "anna", Admin)
	_, anna = one.signIn(t, "anna")
	_, _, err = one.CreateToken(t.Context(), anna,
		NewToken{Name: "ci", Clusters: map[string]Role{"prod": Viewer}, Expires: one.clock().Add(time.Hour)})
	refused.As(t, err, fault.Invalid, "on a server of one cluster")
	secret, made := one.bound(t, Console(), map[string]Role{"prod": Viewer})
	if p, err := one.bearer(secret); err != nil || p.May(Viewer) || made.Clusters[0].Role != Viewer {
		t.Errorf("made without the configuration: %+v %+v, %v", p, made, err)
	}
}
