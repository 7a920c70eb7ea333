package auth

import (
	"net/http/httptest"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestSessionsEndWhenIdleAndAtTheirMaximumAge(t *testing.T) {
	sessionsEnd(t, time.Minute)
	sessionsEnd(t, 50*time.Millisecond) // an idle time of 3 s is shorter than the usual time between stored uses
}

// sessionsEnd tests an idle time of 60 units and a longest time of 180.
func sessionsEnd(t *testing.T, unit time.Duration) {
	t.Helper()
	h := newFixture(t, func(o *Options) { o.Idle, o.Max = 60*unit, 180*unit })
	h.add(t, "anna", Viewer)
	c, p := h.signIn(t, "anna")
	for range 4 {
		h.advance(40 * unit)
		if _, err := h.identify(c); err != nil {
			t.Fatal(err)
		}
	}
	h.advance(20 * unit)
	got, err := h.identify(c)
	expectAnonymous(t, "after its longest time", got, err)
	if err := h.Check(t.Context(), p); err == nil {
		t.Error("a socket's check passes")
	}
	c, p = h.signIn(t, "anna")
	ended := h.ended(p)
	h.advance(60 * unit)
	got, err = h.identify(c)
	expectAnonymous(t, "after its idle time without use", got, err)
	if err := h.Check(t.Context(), p); err == nil || !closed(ended) {
		t.Error("a socket's check passes, or the others of the session stay open")
	}
	h.signIn(t, "anna") // a sign-in deletes expired sessions
	if rows, err := h.db.Sessions(t.Context(), ""); err != nil || len(rows) != 1 {
		t.Errorf("%d expired sessions are stored, %v", len(rows), err)
	}
}

func TestEndingASessionClosesItsWebSocketsAtOnce(t *testing.T) {
	for name, end := range map[string]func(*fixture, Principal) error{
		"sign-out": func(h *fixture, p Principal) error { _, err := h.SignOut(t.Context(), p); return err },
		"revocation": func(h *fixture, p Principal) error {
			return h.Revoke(t.Context(), Principal{ID: "user:x", Role: Admin}, p.Session)
		},
		"own":     func(h *fixture, p Principal) error { return h.Revoke(t.Context(), p, p.Session) },
		"role":    func(h *fixture, p Principal) error { return h.SetRole(t.Context(), Console(), "anna", Support) },
		"disable": func(h *fixture, p Principal) error { return h.DisableUser(t.Context(), Console(), "anna") },
		"password": func(h *fixture, p Principal) error {
			return h.SetPassword(t.Context(), Console(), "anna", "another good one")
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.add(t, "anna", Viewer)
			h.add(t, "ben", Viewer)
			c, p := h.signIn(t, "anna")
			_, other := h.signIn(t, "ben")
			ended, others := h.ended(p), h.ended(other)
			if err := h.Check(t.Context(), p); err != nil || closed(ended) {
				t.Fatal("the session ended too early", err)
			}
			must.Do(t, end(h, p))
			if !closed(ended) {
				t.Error("its sockets stay open")
			}
			if closed(others) || h.Check(t.Context(), other) != nil {
				t.Error("another one's sockets close")
			}
			if got, err := h.identify(c); name != "role" { // rotates the session
				expectAnonymous(t, "the secret", got, err)
			}
			if h.Check(t.Context(), p) == nil {
				t.Error("the check passes")
			}
		})
	}
}

func TestChangesByAnotherProcessAreSeenAtTheNextCheck(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Operator)
	c, p := h.signIn(t, "anna")
	ended := h.ended(p)
	must.Do(t, h.service(t).SetRole(t.Context(), Console(), "anna", Viewer))
	if err := h.Check(t.Context(), p); err == nil || !closed(ended) {
		t.Error("the socket stays open", err)
	}
	if got, err := h.identify(c); err != nil || got.Role != Viewer || got.Session == p.Session {
		t.Errorf("the next request is identified as %+v, %v", got, err)
	}
}

func TestPeopleSeeAndEndTheirOwnSessionsAndAdminsAll(t *testing.T) {
	h := newFixture(t)
	for _, name := range []string{"anna", "ben"} {
		h.add(t, name, Viewer)
	}
	h.add(t, "root", Admin)
	_, anna := h.signIn(t, "anna")
	h.signIn(t, "anna")
	_, ben := h.signIn(t, "ben")
	_, root := h.signIn(t, "root")
	for _, tc := range []struct {
		by   Principal
		want int
	}{{anna, 2}, {ben, 1}, {root, 4}} {
		list, err := h.Sessions(t.Context(), tc.by)
		current := 0
		for _, s := range list {
			if s.Current {
				current++
			}
		}
		if err != nil || len(list) != tc.want || current != 1 {
			t.Errorf("%s sees %d sessions, %d as the present one, %v", tc.by.Name, len(list), current, err)
		}
	}
	expectKind(t, "another one's session", h.Revoke(t.Context(), ben, anna.Session), fault.NotFound)
	expectKind(t, "no session", h.Revoke(t.Context(), root, "nothing"), fault.NotFound)
	must.Do(t, h.Revoke(t.Context(), root, anna.Session))
	if _, err := h.Sessions(t.Context(), Principal{}); err == nil {
		t.Error("anonymous requests can list sessions")
	}
	expect.Equal(t, len(h.auditRecords(t, auditSessionRevoked)), 1, "revocations are recorded")
}

func TestSessionsOfADisabledSignInMethodAreInvalid(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	c, _ := h.signIn(t, "anna")
	s := h.service(t, withIssuer(&fakeIssuer{}))
	got, err := s.Identify(httptest.NewRecorder(), newRequest("192.0.2.1", c))
	expectAnonymous(t, "a password's session when only OIDC is on", got, err)
}
