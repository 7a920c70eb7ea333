package auth

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store/sqlite"
)

// attempts signs in until it is told to wait, and returns how often it could.
func (h *fixture) attempts(t *testing.T, c Credentials) (n int, wait time.Duration) {
	t.Helper()
	for n < 1000 {
		_, _, err := h.SignIn(t.Context(), c)
		if many := (*TooMany)(nil); errors.As(err, &many) {
			return n, many.Wait
		}
		must.That(t, errors.Is(err, ErrCredentials) || err == nil, "%v", err)
		n++
	}
	t.Fatal("there is no limit")
	return 0, 0
}

func TestAnAccountHasTenAttemptsAMinuteAndIsNeverLockedPermanently(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	h.add(t, "ben", Viewer)
	n, wait := h.attempts(t, Credentials{Name: "anna", Password: "wrong", From: "192.0.2.9"})
	must.That(t, n == accountPerMinute && wait > 0 && wait <= 6*time.Second, "%d attempts, then wait %s", n, wait)
	_, _, err := h.SignIn(t.Context(), Credentials{Name: "anna", Password: goodPassword, From: "192.0.2.9"})
	if many := (*TooMany)(nil); !errors.As(err, &many) || many.Seconds() < 1 {
		t.Fatalf("the right password in between: %v", err)
	}
	if _, _, err := h.SignIn(t.Context(), Credentials{Name: "ben", Password: goodPassword, From: "192.0.2.10"}); err != nil {
		t.Errorf("another account waits too: %v", err)
	}
	h.advance(wait)
	if _, _, err := h.SignIn(t.Context(), Credentials{Name: "anna", Password: goodPassword, From: "192.0.2.9"}); err != nil {
		t.Errorf("after the wait: %v", err)
	}
	if n := len(h.auditRecords(t, auditLimited)); n != 1 {
		t.Errorf("the refusals of one flood are %d records", n)
	}
}

func TestGuessesDoNotLockTheOwnerOut(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	h.signIn(t, "anna")
	var last error
	for i := range 2 * addressPerMinute { // at other accounts, from the same address
		last = h.trySignIn(fmt.Sprint("user", i), "wrong")
	}
	must.That(t, isLimited(last), "guessing has no limit: %v", last)
	for i := range 5 {
		h.attempts(t, Credentials{Name: "anna", Password: "wrong", From: fmt.Sprintf("198.51.100.%d", i)})
	}
	if _, _, err := h.SignIn(t.Context(), Credentials{Name: "anna", Password: goodPassword, From: "192.0.2.1"}); err != nil {
		t.Error(err)
	}
	if n, _ := h.attempts(t, Credentials{Name: "anna", Password: "wrong", From: "192.0.2.1"}); n > accountPerMinute {
		t.Errorf("a known address has %d attempts", n)
	}
}

func TestOneAddressCannotTryManyAccounts(t *testing.T) {
	h := newFixture(t)
	tried := 0
	for i := range 100 {
		_, _, err := h.SignIn(t.Context(), Credentials{Name: fmt.Sprintf("user%d", i), Password: "wrong", From: fmt.Sprintf("2001:db8::%x", i+1)})
		if errors.Is(err, ErrCredentials) {
			tried++
		}
	}
	expect.Equal(t, tried, addressPerMinute, "accounts that were tried from one /64")
	if _, _, err := h.SignIn(t.Context(), Credentials{Name: "x", Password: "wrong", From: "2001:db8:0:1::1"}); !errors.Is(
		err,
		ErrCredentials,
	) {
		t.Errorf("another network: %v", err)
	}
}

func TestTheNumberOfBucketsIsBounded(t *testing.T) {
	now := time.Now()
	l := newLimits(func() time.Time { return now })
	for i := range maxBuckets + 500 {
		l.attempt(fmt.Sprint("account", i), fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255))
	}
	if n := len(l.buckets.buckets); n > maxBuckets+2 {
		t.Errorf("%d buckets", n)
	}
	for i := range maxKnown + 200 {
		account, from := fmt.Sprint("account", i), fmt.Sprintf("192.0.%d.%d", i>>8, i&255)
		l.succeeded(account, from)
		for range accountPerMinute {
			l.attempt(account, from)
		}
	}
	if n := len(l.knownBuckets.buckets); n > 2*maxKnown+2 {
		t.Errorf("%d buckets of known places", n)
	}
	expect.That(t, len(l.known) <= maxKnown, "%d known addresses", len(l.known))
}

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
	expect.That(t, limited, "the script has no limit")
	expect.NoError(t, must.Err(h.bearer(right)), "the right token")
	for range 2 * addressPerMinute {
		_, _, _ = h.ClaimFirst(t.Context(), First{Secret: "old", Name: "x", Password: goodPassword, From: "192.0.2.1"})
	}
	for _, name := range []string{"anna", "ben"} {
		expect.NoError(t, h.trySignIn(name, goodPassword), "%s: unexpected error", name)
	}
}

func TestAnAttackOnOneAccountDoesNotUseUpTheAddressesAttempts(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	h.add(t, "ben", Viewer)
	for range 4 * addressPerMinute {
		_ = h.trySignIn("anna", "wrong")
	}
	expect.NoError(t, h.trySignIn("ben", goodPassword), "ben, for the first time")
	for range 4 * addressPerMinute {
		_ = h.trySignIn("ben", "wrong")
	}
	h.add(t, "carl", Viewer)
	expect.NoError(t, h.trySignIn("carl", goodPassword), "carl, for the first time")
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
	expect.NoError(t, h.trySignIn("user1", goodPassword), "once the allowance filled again")
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
	expect.Equal(t, limited, addressPerMinute, "of %d forged answers are over the limit", 2*addressPerMinute)
	expect.NoError(t, signIn(), "after forged answers")
}

func TestTheNumberOfWrongCodesSentToTheIssuerIsLimited(t *testing.T) {
	issuer := issuerWithGroups("ops")
	h := newFixture(t, withIssuer(issuer))
	exchanges := 0
	for range 3 * addressPerMinute {
		flow, state := h.startOIDC(t, "/")
		c, _, err := h.finishOIDC(flow, "code=guess&state="+state)
		must.That(t, c == nil, "in by a wrong code")
		if !isLimited(err) {
			exchanges++
		}
	}
	expect.That(t, exchanges == addressPerMinute, "the issuer got %d codes", exchanges)
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
		expect.NoError(t, later.trySignIn(name, goodPassword), "%s, at the known address", name)
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
