package auth

import (
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// Whoever holds an admin's session can make an account, or take one over: both count as one person for a day.
func TestAccountsThatOneMakesAreNotAnotherPerson(t *testing.T) {
	h := newFixture(t, func(o *Options) { o.Apart = Apart })
	root, other := h.add(t, "root", Admin), h.add(t, "other", Admin) // made on the machine of the data
	h.advance(Apart + time.Minute)
	admin := Principal{ID: "user:" + root.ID, Role: Admin, Method: ByPassword}
	second := Principal{ID: "user:" + other.ID, Role: Admin, Method: ByPassword}
	create := func(by Principal, name string) string {
		u, err := h.CreateUser(t.Context(), by, NewUser{Name: name, Password: goodPassword, Role: Admin})
		must.Do(t, err)
		return "user:" + u.ID
	}
	before := create(second, "before")
	h.advance(Apart + time.Minute)
	made, sibling := create(admin, "made"), create(admin, "sibling")
	maker := Principal{ID: made, Role: Admin, Method: ByPassword}
	child := create(maker, "child")
	secret, token, err := h.CreateToken(t.Context(), Principal{ID: admin.ID, Role: Admin, Method: ByPassword},
		NewToken{Name: "ci", Role: Admin, Expires: h.clock().Add(30 * 24 * time.Hour)})
	must.Do(t, err)
	_ = secret
	byToken := create(Principal{ID: "token:" + token.ID, Role: Admin, Method: ByToken, Owner: admin.ID}, "by-token")
	check := func(what, a, b string, want bool) {
		t.Helper()
		why, err := h.Related(t.Context(), a, b)
		expect.That(t, err == nil && why.IsZero() != want, "%s: %q, %v", what, why, err)
		if back, _ := h.Related(t.Context(), b, a); back.IsZero() != why.IsZero() {
			t.Errorf("%s is not the same in the other direction", what)
		}
	}
	check("who was made", made, admin.ID, true)
	check("who was made by one who was made", child, admin.ID, true)
	check("two who were made", made, sibling, true)
	check("who was made by a token", byToken, admin.ID, true)
	check("two admins", admin.ID, second.ID, false)
	check("who was made a day before", before, second.ID, false)
	check("people of an issuer", "oidc:x:anna", "oidc:x:bert", false)
	must.Do(t, h.SetPassword(t.Context(), admin, "before", "another good one"))
	check("whose password was set", before, admin.ID, true)
	h.advance(Apart + time.Minute)
	check("a day later", before, admin.ID, false)
	must.Do(t, h.SetRole(t.Context(), admin, "before", Operator))
	check("whose role was set", before, admin.ID, true)
	off := h.service(t, func(o *Options) { o.Apart = 0 })
	if why, err := off.Related(t.Context(), before, admin.ID); err != nil || !why.IsZero() {
		t.Errorf("turned off: %q, %v", why, err)
	}
}

func TestWhatLapsedIsRememberedWhenItIsGivenBack(t *testing.T) {
	h := newFixture(t)
	bert := h.add(t, "bert", Operator)
	_, p := h.signIn(t, "bert")
	_, token, err := h.CreateToken(t.Context(), p, NewToken{Name: "ci", Role: Operator, Expires: h.clock().Add(30 * 24 * time.Hour)})
	must.Do(t, err)
	lapsed := func(id string, since time.Time) bool {
		t.Helper()
		out, err := h.Lapsed(t.Context(), id, since)
		must.Do(t, err)
		return out
	}
	begin := h.clock()
	h.advance(time.Minute)
	expect.That(t, !lapsed(p.ID, begin) && !lapsed("token:"+token.ID, begin), "lapsed before anything happened")
	must.Do(t, h.DisableUser(t.Context(), Console(), "bert"))
	must.Do(t, h.EnableUser(t.Context(), Console(), "bert"))
	if id := "user:" + bert.ID; !lapsed(id, begin) || !lapsed("token:"+token.ID, begin) {
		t.Error("an account that was disabled for a while counts as if nothing had happened")
	}
	h.advance(time.Minute)
	expect.That(t, !lapsed(p.ID, h.clock()), "what was before a time counts")
}
