package auth

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/sqlite"
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
		must.Do(t, must.Err(h.identify(c)))
	}
	h.advance(20 * unit)
	expectAnonymous(t, "after its longest time")(h.identify(c))
	expect.That(t, h.Check(t.Context(), p) != nil, "a socket's check passes")
	c, p = h.signIn(t, "anna")
	ended := h.ended(p)
	h.advance(60 * unit)
	expectAnonymous(t, "after its idle time without use")(h.identify(c))
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
			expect.That(t, closed(ended), "its sockets stay open")
			expect.That(t, !closed(others) && h.Check(t.Context(), other) == nil, "another one's sockets close")
			if got, err := h.identify(c); name != "role" { // rotates the session
				expectAnonymous(t, "the secret")(got, err)
			}
			expect.That(t, h.Check(t.Context(), p) != nil, "the check passes")
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
	refused.As(t, h.Revoke(t.Context(), ben, anna.Session), fault.NotFound, "another one's session")
	refused.As(t, h.Revoke(t.Context(), root, "nothing"), fault.NotFound, "no session")
	must.Do(t, h.Revoke(t.Context(), root, anna.Session))
	expect.That(t, must.Err(h.Sessions(t.Context(), Principal{})) != nil, "anonymous requests can list sessions")
	expect.Equal(t, len(h.auditRecords(t, auditSessionRevoked)), 1, "revocations are recorded")
}

func TestSessionsOfADisabledSignInMethodAreInvalid(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	c, _ := h.signIn(t, "anna")
	s := h.service(t, withIssuer(&fakeIssuer{}))
	expectAnonymous(t, "a password's session when only OIDC is on")(s.Identify(httptest.NewRecorder(), newRequest("192.0.2.1", c)))
}

// identifyWithCookie makes a request with a cookie and returns the principal and the cookie of the answer.
func identifyWithCookie(s *Service, cookie *http.Cookie) (Principal, *http.Cookie, error) {
	w := httptest.NewRecorder()
	p, err := s.Identify(w, newRequest("192.0.2.1", cookie))
	for _, c := range w.Result().Cookies() {
		return p, c, err
	}
	return p, nil, err
}

func (h *fixture) setRole(t *testing.T, name string, role Role) {
	t.Helper()
	must.Do(t, h.SetRole(t.Context(), Console(), name, role))
}

func TestAChangeOfRoleRotatesTheSessionAtTheNextRequest(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	old, before := h.signIn(t, "anna")
	first, err := h.db.Session(t.Context(), before.Session)
	must.Do(t, err)
	h.advance(time.Hour)
	h.setRole(t, "anna", Operator)
	p, fresh, err := identifyWithCookie(h.Service, old)
	if err != nil || p.ID != before.ID || p.Role != Operator || p.Session == before.Session || p.Method != ByPassword ||
		p.From != "192.0.2.1" {
		t.Fatalf("unexpected principal %+v, error %v", p, err)
	}
	if fresh == nil || fresh.Name != old.Name || fresh.Value == old.Value || len(fresh.Value) < 43 || !fresh.HttpOnly ||
		fresh.MaxAge != old.MaxAge-3600 {
		t.Fatalf("its cookie is %+v", fresh)
	}
	now, err := h.db.Session(t.Context(), p.Session)
	if err != nil || !now.Created.Equal(first.Created) || !now.Expires.Equal(first.Expires) || now.Role != "operator" || now.Stale {
		t.Errorf("stored as %+v, %v; before it was %+v", now, err, first)
	}
	refused.As(t, must.Err(h.db.Session(t.Context(), before.Session)), fault.NotFound, "the session before")
	for range 2 {
		if again, c, err := identifyWithCookie(h.Service, fresh); err != nil || !same(again, p) || c != nil {
			t.Errorf("with the new secret: %+v, %v, %v", again, c, err)
		}
	}
	if h.Check(t.Context(), p) != nil || h.Check(t.Context(), before) == nil {
		t.Error("the check passes for a socket of the former session or fails for the new one")
	}
	told := h.auditRecords(t, auditSessionRotated)
	if len(told) != 1 || told[0].By != p.ID || told[0].Outcome != "ok" || told[0].Details["was"] != "viewer" ||
		told[0].Details["role"] != "operator" ||
		told[0].Details["before"] != before.Session ||
		told[0].Details["session"] != p.Session {
		t.Errorf("recorded: %+v", told)
	}
	if rep, err := audit.Verify(audit.Records(t.Context(), h.db, 0), audit.Expect{}); err != nil || rep.Break != nil {
		t.Error("the record's chain:", err)
	}
}

func TestAFormerSecretIsInvalidTenSecondsAfterTheRotation(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	old, _ := h.signIn(t, "anna")
	h.setRole(t, "anna", Operator)
	p, _, err := identifyWithCookie(h.Service, old)
	must.Do(t, err)
	for range 9 { // use does not extend it
		h.advance(time.Second)
		if late, c, err := identifyWithCookie(h.Service, old); err != nil || !same(late, p) || c != nil {
			t.Fatalf("a request that was on its way: %+v, %v, %v", late, c, err)
		}
	}
	h.advance(time.Second)
	got, c, err := identifyWithCookie(h.Service, old)
	expectAnonymous(t, "after ten seconds")(got, err)
	expect.That(t, c == nil, "an expired secret is given a cookie")
	expect.Equal(t, len(h.auditRecords(t, auditSessionRotated)), 1, "rotations")
}

func TestOneOfManyConcurrentRequestsRotates(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	old, _ := h.signIn(t, "anna")
	h.setRole(t, "anna", Support)
	const many = 16
	var who [many]Principal
	var cookies [many]*http.Cookie
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			var err error
			if who[i], cookies[i], err = identifyWithCookie(h.Service, old); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	given := 0
	for i := range many {
		expect.That(t, same(who[i], who[0]) && who[i].Role == Support, "%+v and %+v", who[i], who[0])
		if cookies[i] != nil {
			given++
		}
	}
	rows, err := h.db.Sessions(t.Context(), "")
	if given != 1 || len(rows) != 1 || err != nil || len(h.auditRecords(t, auditSessionRotated)) != 1 {
		t.Errorf("%d cookies, %d sessions, %d rotations recorded, %v", given, len(rows), len(h.auditRecords(t, auditSessionRotated)), err)
	}
}

func TestAFormerSecretCannotRotate(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	oldest, _ := h.signIn(t, "anna")
	h.setRole(t, "anna", Support)
	_, old, _ := identifyWithCookie(h.Service, oldest)
	h.setRole(t, "anna", Operator)
	got, c, err := identifyWithCookie(h.Service, oldest)
	expectAnonymous(t, "the secret before, when the new session is stale too")(got, err)
	p, fresh, err := identifyWithCookie(h.Service, old)
	must.That(t, err == nil && p.Role == Operator && fresh != nil && c == nil, "%v %v %v %v", p, fresh, c, err)
	got, _, err = identifyWithCookie(h.Service, oldest)
	expectAnonymous(t, "a secret that is two rotations old")(got, err)
}

func TestARoleThatWasChangedBackRotatesToo(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	old, before := h.signIn(t, "anna")
	h.setRole(t, "anna", Admin)
	h.add(t, "root", Admin)
	h.setRole(t, "anna", Viewer)
	if p, c, err := identifyWithCookie(h.Service, old); err != nil || c == nil || p.Session == before.Session || p.Role != Viewer {
		t.Errorf("unexpected principal %+v, cookie %v, error %v", p, c, err)
	}
}

func TestStaleSessionsAndFormerSecretsEndWithTheSession(t *testing.T) {
	for name, end := range map[string]func(*fixture, Principal) error{
		"sign-out": func(h *fixture, p Principal) error { _, err := h.SignOut(t.Context(), p); return err },
		"revocation": func(h *fixture, p Principal) error {
			return h.Revoke(t.Context(), Principal{ID: "user:x", Role: Admin}, p.Session)
		},
		"disable": func(h *fixture, p Principal) error { return h.DisableUser(t.Context(), Console(), "anna") },
		"password": func(h *fixture, p Principal) error {
			return h.SetPassword(t.Context(), Console(), "anna", "another good one")
		},
		"idle": func(h *fixture, p Principal) error { h.advance(defaultIdle); return nil },
		"time": func(h *fixture, p Principal) error { h.advance(defaultMax); return nil },
	} {
		for _, rotated := range []bool{false, true} {
			h := newFixture(t)
			h.add(t, "anna", Viewer)
			old, p := h.signIn(t, "anna")
			h.setRole(t, "anna", Operator)
			if rotated {
				var err error
				p, _, err = identifyWithCookie(h.Service, old)
				must.Do(t, err)
			}
			if err := end(h, p); err != nil {
				t.Fatal(name, err)
			}
			got, c, err := identifyWithCookie(h.Service, old)
			expectAnonymous(t, name)(got, err)
			expect.That(t, c == nil, "%s, rotated %v: a cookie is given", name, rotated)
		}
	}
}

func TestAProcessThatDoesNotOwnTheDataDoesNotRotate(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	old, _ := h.signIn(t, "anna")
	db, err := sqlite.Open(t.Context(), h.dir)
	if err != nil || db.Owner() {
		t.Fatal(db.Owner(), err)
	}
	t.Cleanup(func() { _ = db.Close() })
	second := h.service(t, func(o *Options) { o.Store = db })
	if p, _, err := identifyWithCookie(second, old); err != nil || p.Role != Viewer {
		t.Fatal(p, err)
	}
	h.setRole(t, "anna", Operator)
	got, c, err := identifyWithCookie(second, old)
	expectAnonymous(t, "at the second process")(got, err)
	p, fresh, err := identifyWithCookie(h.Service, old)
	must.That(t, err == nil && p.Role == Operator && fresh != nil && c == nil, "%v %v %v %v", p, fresh, c, err)
	if again, _, err := identifyWithCookie(second, fresh); err != nil || !same(again, p) {
		t.Error("the new session at the second process:", again, err)
	}
}

func TestStaleSessionsAreListedAndReplacedBySignIn(t *testing.T) {
	h := newFixture(t, withIssuer(&fakeIssuer{}), func(o *Options) { o.Mode = "local,oidc" })
	h.add(t, "anna", Viewer)
	old, p := h.signIn(t, "anna")
	h.setRole(t, "anna", Operator)
	list, err := h.Sessions(t.Context(), Principal{ID: p.ID, Role: Viewer})
	if err != nil || len(list) != 1 || list[0].ID != p.Session || list[0].Role != Operator {
		t.Fatalf("unexpected list %+v, error %v", list, err)
	}
	p, _, err = identifyWithCookie(h.Service, old)
	if id := h.currentSession(newRequest("192.0.2.1", old)); err != nil || id != p.Session {
		t.Errorf("a sign-in by the same request would end %q, not %q", id, p.Session)
	}
}
