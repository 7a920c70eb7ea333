package auth

import (
	"context"
	"fmt"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store/sqlite"
)

// underAttack returns another process over the same data, whose accounts are attacked from many
// addresses before anybody else signs in.
func (h *fixture) underAttack(t *testing.T, names ...string) *fixture {
	t.Helper()
	other := &fixture{Service: h.service(t), db: h.db, log: h.log, now: h.clock()}
	for _, name := range names {
		for i := range 3 {
			other.attempts(t, Credentials{Name: name, Password: "wrong", From: fmt.Sprintf("198.51.100.%d", i)})
		}
	}
	return other
}

func TestKnownAddressesSurviveARestart(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	h.add(t, "ben", Viewer)
	if _, err := h.CreateUser(t.Context(), Console(), NewUser{Name: "glass", Password: goodPassword, BreakGlass: true}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"anna", "glass"} {
		_, p := h.signIn(t, name)
		if _, err := h.SignOut(t.Context(), p); err != nil { // the address stays known after sign-out
			t.Fatal(err)
		}
	}
	h.advance(40 * 24 * time.Hour)
	later := h.underAttack(t, "anna", "glass", "ben")
	for _, name := range []string{"anna", "glass"} {
		if err := later.trySignIn(name, goodPassword); err != nil {
			t.Errorf("%s, at the known address: %v", name, err)
		}
	}
	if err := later.trySignIn("ben", goodPassword); !isLimited(err) {
		t.Errorf("ben, who never came from there: %v", err)
	}
	if n, _ := later.attempts(t, Credentials{Name: "anna", Password: "wrong", From: "192.0.2.1"}); n > accountPerMinute {
		t.Errorf("the known address has %d attempts", n)
	}
}

func TestOneAccountWithManyAddressesDoesNotEvictOthers(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	h.add(t, "mallory", Viewer)
	h.signIn(t, "anna")
	for i := range 3 * maxKnownPerAccount {
		h.advance(time.Minute)
		if _, _, err := h.SignIn(t.Context(),
			Credentials{Name: "mallory", Password: goodPassword, From: fmt.Sprintf("203.0.113.%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	expect.Equal(t, len(h.limits.knownAddresses()), maxKnownPerAccount+1, "places are known")
	must.Do(t, h.underAttack(t, "anna").trySignIn("anna", goodPassword))
}

func TestAnInvalidListOfKnownAddressesIsReplaced(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	must.Do(t, h.db.SetSetting(t.Context(), knownSetting, `{"what": `))
	h.signIn(t, "anna")
	must.Do(t, h.underAttack(t, "anna").trySignIn("anna", goodPassword))
}

func TestAListThatCannotBeReadIsNotReplaced(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	h.signIn(t, "anna")
	stored, err := h.db.Setting(t.Context(), knownSetting)
	must.Do(t, err)
	s := h.service(t, func(o *Options) { o.Store = unreadable{h.db} })
	if _, _, err := s.SignIn(t.Context(), Credentials{Name: "anna", Password: goodPassword, From: "192.0.2.77"}); err != nil {
		t.Fatal(err)
	}
	if now, err := h.db.Setting(t.Context(), knownSetting); err != nil || now != stored {
		t.Errorf("%s became %s, %v", stored, now, err)
	}
}

// unreadable is a store whose settings cannot be read now.
type unreadable struct{ *sqlite.DB }

func (unreadable) Setting(context.Context, string) (string, error) {
	return "", fault.New(fault.Unavailable, "away")
}
