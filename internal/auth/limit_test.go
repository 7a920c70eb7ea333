package auth

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
)

// attempts signs in until it is told to wait, and returns how often it could.
func (h *fixture) attempts(t *testing.T, c Credentials) (n int, wait time.Duration) {
	t.Helper()
	for n < 1000 {
		_, _, err := h.SignIn(t.Context(), c)
		if many := (*TooMany)(nil); errors.As(err, &many) {
			return n, many.Wait
		}
		if !errors.Is(err, ErrCredentials) && err != nil {
			t.Fatal(err)
		}
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
	if n != accountPerMinute || wait <= 0 || wait > 6*time.Second {
		t.Fatalf("%d attempts, then wait %s", n, wait)
	}
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
	if !isLimited(last) {
		t.Fatalf("guessing has no limit: %v", last)
	}
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
	if len(l.known) > maxKnown {
		t.Errorf("%d known addresses", len(l.known))
	}
}
