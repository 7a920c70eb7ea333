package auth

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

const day = 24 * time.Hour

// restarted returns a second Service over the same data, as after a restart.
func (h *fixture) restarted(t *testing.T) *fixture {
	t.Helper()
	return &fixture{Service: h.service(t), db: h.db, dir: h.dir, log: h.log, now: h.clock()}
}

// withAndWithoutRestart runs a test in one process, and with a restart when the clock changes.
func withAndWithoutRestart(t *testing.T, test func(t *testing.T, h *fixture, set func(time.Duration) *fixture)) {
	for name, restart := range map[string]bool{"while it runs": false, "over a restart": true} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			test(t, h, func(by time.Duration) *fixture {
				h.advance(by)
				if !restart {
					return h
				}
				next := h.restarted(t)
				next.o.Now = h.clock // one clock for both
				next.limits.now = h.clock
				return next
			})
		})
	}
}

func TestASessionDoesNotLastLongerWhenTheClockIsSetBack(t *testing.T) {
	withAndWithoutRestart(t, func(t *testing.T, h *fixture, set func(time.Duration) *fixture) {
		h.add(t, "anna", Viewer)
		cookie, p := h.signIn(t, "anna")
		h.advance(time.Hour)
		if _, err := h.identify(cookie); err != nil { // stores its use
			t.Fatal(err)
		}
		later := set(-day)
		expectAnonymous(t, "a session that was used at a time which has not come")(later.identify(cookie))
		if err := later.Check(t.Context(), p); !errors.Is(err, ErrNobody) {
			t.Errorf("its socket stays open: %v", err)
		}
		fresh, _ := later.signIn(t, "anna")
		expect.NoError(t, must.Err(later.identify(fresh)), "after signing in again")
		set(day) // the same time of day again
		expectAnonymous(t, "when the time has come again")(later.identify(cookie))
	})
}

func TestAnUnusedSessionEndsAfterItsIdleTimeout(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	cookie, _ := h.signIn(t, "anna")
	h.advance(7 * time.Hour)
	h.advance(-6 * time.Hour) // still after its last use, so the change cannot be noticed
	must.Do(t, must.Err(h.identify(cookie)))
	h.advance(8 * time.Hour)
	expectAnonymous(t, "unused for its idle time")(h.identify(cookie))

	again, _ := h.signIn(t, "anna")
	lived := time.Duration(0)
	for lived < 3*defaultMax { // used each hour, and set back by an hour each day
		if _, err := h.identify(again); err != nil {
			break
		}
		h.advance(time.Hour)
		lived += time.Hour
		if lived%day == 0 {
			h.advance(-time.Hour)
		}
	}
	expect.That(t, lived <= defaultMax+defaultIdle, "the session lived %s", lived)
}

func TestAClockThatIsADayAheadEndsSessionsAndLetsPeopleInAgain(t *testing.T) {
	withAndWithoutRestart(t, func(t *testing.T, h *fixture, set func(time.Duration) *fixture) {
		h.add(t, "anna", Viewer)
		before, _ := h.signIn(t, "anna")
		later := set(day)
		expectAnonymous(t, "not used for a day")(later.identify(before))
		ahead, _ := later.signIn(t, "anna")
		expect.NoError(t, must.Err(later.identify(ahead)), "signed in while the clock is ahead")
		right := set(-day)
		expectAnonymous(t, "made at a time which has not come")(right.identify(ahead))
		fresh, _ := right.signIn(t, "anna")
		expect.NoError(t, must.Err(right.identify(fresh)), "after the clock was put right")
	})
}

func TestAClockChangeDoesNotProlongALockout(t *testing.T) {
	for _, step := range []time.Duration{-day, day} {
		h := newFixture(t)
		h.add(t, "anna", Viewer)
		wrong := Credentials{Name: "anna", Password: "wrong", From: "192.0.2.9"}
		h.attempts(t, wrong)
		for range addressPerMinute {
			_, _ = h.Identify(httptest.NewRecorder(), newRequest("192.0.2.9", nil, "Authorization", "Bearer sb_wrong"))
		}
		h.advance(step)
		if _, wait := h.attempts(t, wrong); wait > 6*time.Second {
			t.Errorf("%s: the wait is %s", step, wait)
		}
		h.advance(time.Minute)
		right := wrong
		right.Password = goodPassword
		if _, _, err := h.SignIn(t.Context(), right); err != nil {
			t.Errorf("%s, a minute later: %v", step, err)
		}
		if _, err := h.Identify(httptest.NewRecorder(), newRequest("192.0.2.9", nil, "Authorization", "Bearer sb_wrong")); isLimited(err) {
			t.Errorf("%s, a minute later, tokens: %v", step, err)
		}
	}
}

func TestTokensExpireAndRevokedOnesStayRevoked(t *testing.T) {
	withAndWithoutRestart(t, func(t *testing.T, h *fixture, set func(time.Duration) *fixture) {
		h.add(t, "anna", Admin)
		_, p := h.signIn(t, "anna")
		secret, made, err := h.CreateToken(t.Context(), p, NewToken{Name: "ci", Role: Viewer, Expires: h.clock().Add(12 * time.Hour)})
		must.Do(t, err)
		use := func(h *fixture) error {
			_, err := h.identify(nil, "Authorization", "Bearer "+secret)
			return err
		}
		must.Do(t, use(h))
		later := set(day)
		if err := use(later); !errors.Is(err, ErrNobody) {
			t.Errorf("the clock is past its end: %v", err)
		}
		right := set(-day)
		expect.NoError(t, use(right), "the clock was put right")
		back := set(-day)
		expect.NoError(t, use(back), "a script goes on while the clock is behind")
		if row, err := h.db.Token(t.Context(), made.ID); err != nil || row.Used.After(h.clock()) {
			t.Errorf("its last use is in the future: %s, %v", row.Used, err)
		}
		must.Do(t, h.RevokeToken(t.Context(), Console(), made.ID))
		for range 2 {
			if err := use(set(-day)); !errors.Is(err, ErrNobody) {
				t.Errorf("revoked: %v", err)
			}
		}
	})
}

func TestTheFirstLinkIsNotProlongedWhenTheClockIsSetBack(t *testing.T) {
	h := newFixture(t)
	link, err := h.FirstLink(t.Context())
	must.Do(t, err)
	u := must.Get(url.Parse(link))
	h.advance(-day)
	_, _, err = h.ClaimFirst(t.Context(), First{Secret: u.Query().Get("key"), Name: "root", Password: goodPassword, From: "192.0.2.1"})
	expect.That(t, errors.Is(err, ErrLink), "unexpected error: %v", err)
}

func TestAFormerSecretIsInvalidWhenTheClockIsSetBack(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	old, _ := h.signIn(t, "anna")
	must.Do(t, h.SetRole(t.Context(), Console(), "anna", Operator))
	w := httptest.NewRecorder()
	if _, err := h.Identify(w, newRequest("192.0.2.1", old)); err != nil || len(w.Result().Cookies()) != 1 {
		t.Fatal(err)
	}
	h.advance(formerSecretLifetime + time.Second)
	h.advance(-5 * time.Minute)
	for _, c := range []*http.Cookie{old, w.Result().Cookies()[0]} {
		expectAnonymous(t, "the clock was set back")(h.identify(c))
	}
}

func TestAnOldOIDCCallbackIsRefusedWhenTheClockIsSetBack(t *testing.T) {
	h := newFixture(t, withIssuer(issuerWithGroups("ops")))
	flow, state := h.startOIDC(t, "/")
	h.advance(-day)
	if _, _, err := h.finishOIDC(flow, "code=code&state="+state); !errors.Is(err, errFlow) {
		t.Errorf("unexpected error: %v", err)
	}
	h.advance(2 * day)
	if _, _, err := h.finishOIDC(flow, "code=code&state="+state); !errors.Is(err, errFlow) {
		t.Errorf("a day later: %v", err)
	}
}

// Audit entries keep the order in which things happened, even when their times go back.
func TestRefusalsAndSignInsAreRecordedInOrderWhateverTheClockSays(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	for _, step := range []time.Duration{0, day, -2 * day, day} {
		h.advance(step)
		h.signIn(t, "anna")
		_, _, _ = h.SignIn(t.Context(), Credentials{Name: "anna", Password: "wrong", From: "192.0.2.3"})
		h.o.Refusals.Flush()
	}
	if in, out := len(h.auditRecords(t, auditSignIn)), countAttempts(t, h.auditRecords(t, auditRefused)); in != 4 || out != 4 {
		t.Errorf("%d sign-ins and %d refusals are recorded", in, out)
	}
}
