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
	if !regexp.MustCompile(`^sb_[a-z2-7]{59}$`).MatchString(secret) || !hasTokenFormat(secret) {
		t.Error(secret)
	}
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
		if hasTokenFormat(wrong) {
			t.Errorf("an invalid token is accepted: %q", wrong)
		}
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
	if !closed(ended) || h.Check(t.Context(), p) == nil {
		t.Error("its sockets stay open")
	}
	got, err := h.bearer(secret)
	expectAnonymous(t, "revoked", got, err)
	expectKind(t, "once more", h.RevokeToken(t.Context(), anna, made.ID), fault.Conflict)
	secret, _ = h.token(t, anna, Support)
	h.advance(time.Hour)
	got, err = h.bearer(secret)
	expectAnonymous(t, "expired", got, err)
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
	if !closed(ended) || h.Check(t.Context(), p) == nil {
		t.Error("sockets with the former role stay open")
	}
	if p, err = h.bearer(secret); err != nil || p.Role != Viewer {
		t.Errorf("unexpected principal %+v, error %v", p, err)
	}
	must.Do(t, h.DisableUser(t.Context(), Console(), "anna"))
	got, err := h.bearer(secret)
	expectAnonymous(t, "a disabled owner", got, err)
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
		expectKind(t, name, err, tc.kind)
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
	expectKind(t, "a later end", err, fault.Invalid)
	_, child, err := h.CreateToken(t.Context(), p, NewToken{Name: "x", Role: Viewer, Expires: h.clock().Add(time.Minute)})
	if err != nil || child.Owner != anna.ID {
		t.Errorf("unexpected token %+v, error %v", child, err)
	}
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
	expectKind(t, "another one's token", h.RevokeToken(t.Context(), ben, made.ID), fault.NotFound)
	must.Do(t, h.RevokeToken(t.Context(), root, made.ID))
}

func TestAWrongTokenIsRefusedDespiteAValidCookie(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	c, _ := h.signIn(t, "anna")
	for _, header := range []string{"Bearer ", "Bearer x", "Basic YTpi", "", "bearer sb_"} {
		p, err := h.Identify(httptest.NewRecorder(), newRequest("192.0.2.1", c, "Authorization", header))
		expectAnonymous(t, header, p, err)
	}
}
