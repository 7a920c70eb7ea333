package auth

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
)

func isLimited(err error) bool {
	many := (*TooMany)(nil)
	return errors.As(err, &many)
}

// trySignIn signs in from 192.0.2.1, the address of all clients in this file.
func (h *fixture) trySignIn(name, password string) error {
	_, _, err := h.SignIn(context.Background(), Credentials{Name: name, Password: password, From: "192.0.2.1"})
	return err
}

func TestAScriptWithAnOldTokenDoesNotBlockSignIn(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	h.add(t, "ben", Viewer)
	h.signIn(t, "anna")
	right, _ := h.token(t, Console(), Viewer)
	limited := false
	for range 2 * addressPerMinute {
		_, err := h.identify(nil, "Authorization", "Bearer sb_zz")
		limited = limited || isLimited(err)
	}
	if !limited {
		t.Error("the script has no limit")
	}
	if _, err := h.bearer(right); err != nil {
		t.Errorf("the right token: %v", err)
	}
	for range 2 * addressPerMinute {
		_, _, _ = h.ClaimFirst(t.Context(), First{Secret: "old", Name: "x", Password: goodPassword, From: "192.0.2.1"})
	}
	for _, name := range []string{"anna", "ben"} {
		if err := h.trySignIn(name, goodPassword); err != nil {
			t.Errorf("%s: unexpected error: %v", name, err)
		}
	}
}

func TestAnAttackOnOneAccountDoesNotUseUpTheAddressesAttempts(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	h.add(t, "ben", Viewer)
	for range 4 * addressPerMinute {
		_ = h.trySignIn("anna", "wrong")
	}
	if err := h.trySignIn("ben", goodPassword); err != nil {
		t.Errorf("ben, for the first time: %v", err)
	}
	for range 4 * addressPerMinute {
		_ = h.trySignIn("ben", "wrong")
	}
	h.add(t, "carl", Viewer)
	if err := h.trySignIn("carl", goodPassword); err != nil {
		t.Errorf("carl, for the first time: %v", err)
	}
}

func TestOneAddressCannotTryManyKnownAccounts(t *testing.T) {
	h := newFixture(t)
	const people = addressPerMinute + 5
	for i := range people {
		name := fmt.Sprint("user", i)
		h.add(t, name, Viewer)
		if err := h.trySignIn(name, goodPassword); err != nil { // correct passwords do not count as guesses
			t.Fatalf("%s: unexpected error: %v", name, err)
		}
	}
	tried := 0
	for i := range people {
		if errors.Is(h.trySignIn(fmt.Sprint("user", i), "wrong"), ErrCredentials) {
			tried++
		}
	}
	expect.Equal(t, tried, addressPerMinute, "known accounts that were tried from one address")
	for range 2 * people {
		_ = h.trySignIn("user0", "wrong")
	}
	_, wait := h.attempts(t, Credentials{Name: "user0", Password: "wrong", From: "192.0.2.1"})
	h.advance(wait)
	if err := h.trySignIn("user1", goodPassword); err != nil {
		t.Errorf("once the allowance filled again: %v", err)
	}
}

func TestForgedCallbacksDoNotBlockOIDCSignInFromOneAddress(t *testing.T) {
	issuer := issuerWithGroups("ops")
	h := newFixture(t, withIssuer(issuer))
	signIn := func() error {
		_, err := h.callback(t)
		return err
	}
	for i := range 2 * addressPerMinute {
		if err := signIn(); err != nil {
			t.Fatalf("person %d: %v", i, err)
		}
	}
	limited := 0
	for range 2 * addressPerMinute {
		if _, _, err := h.finishOIDC(nil, "code=code&state=x"); isLimited(err) {
			limited++
		}
		_, _ = h.identify(nil, "Authorization", "Bearer sb_zz")
	}
	if limited != addressPerMinute {
		t.Errorf("%d of %d forged answers are over the limit", limited, 2*addressPerMinute)
	}
	if err := signIn(); err != nil {
		t.Errorf("after forged answers: %v", err)
	}
}

func TestTheNumberOfWrongCodesSentToTheIssuerIsLimited(t *testing.T) {
	issuer := issuerWithGroups("ops")
	h := newFixture(t, withIssuer(issuer))
	exchanges := 0
	for range 3 * addressPerMinute {
		flow, state := h.startOIDC(t, "/")
		c, _, err := h.finishOIDC(flow, "code=guess&state="+state)
		if c != nil {
			t.Fatal("in by a wrong code")
		}
		if !isLimited(err) {
			exchanges++
		}
	}
	if exchanges != addressPerMinute {
		t.Errorf("the issuer got %d codes", exchanges)
	}
	if records := h.auditRecords(t, auditLimited); len(records) != 1 {
		t.Errorf("one flood is %d records", len(records))
	}
	issuer.claims.Groups = nil // a sign-in without a role counts as failed too
	h.advance(flowLifetime)
	refused := 0
	for range 2 * addressPerMinute {
		if _, err := h.callback(t); fault.Of(err) == fault.Forbidden {
			refused++
		}
	}
	expect.Equal(t, refused, addressPerMinute, "people without a role who were sent back")
}
