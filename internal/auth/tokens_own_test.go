package auth

import (
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
)

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
			expectKind(t, what+" token ends a session", h.Revoke(t.Context(), token, p.Session), fault.NotFound)
			expectKind(t, what+" token revokes another", h.RevokeToken(t.Context(), token, other.ID), fault.NotFound)
			_, _, err = h.CreateToken(t.Context(), token, NewToken{Name: "x", Role: Viewer, Expires: h.clock().Add(time.Minute)})
			expectKind(t, what+" token makes another", err, fault.Forbidden)
			if err := h.Check(t.Context(), p); err != nil {
				t.Fatalf("%s token ended its owner's session", what)
			}
			if err := h.RevokeToken(t.Context(), token, own.ID); err != nil {
				t.Errorf("%s token cannot end itself: %v", what, err)
			}
			got, err := h.bearer(secret)
			expectAnonymous(t, what, got, err)
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
	if token, err = h.bearer(secret); err != nil {
		t.Fatal(err)
	}
	if list, err := h.Sessions(t.Context(), token); err != nil || len(list) != 0 {
		t.Errorf("it sees %+v, %v", list, err)
	}
	expectKind(t, "it ends a session", h.Revoke(t.Context(), token, root.Session), fault.NotFound)
	_, _, err = h.CreateToken(t.Context(), token, NewToken{Name: "x", Role: Viewer, Expires: h.clock().Add(time.Minute)})
	expectKind(t, "it makes another", err, fault.Forbidden)
}
