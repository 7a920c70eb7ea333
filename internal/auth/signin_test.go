package auth

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
)

func TestSignInGivesASessionForTheRightPasswordOnly(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Operator)
	for _, name := range []string{"anna", " Anna ", "ANNA"} {
		cookie, p, err := h.SignIn(t.Context(), Credentials{Name: name, Password: goodPassword, From: "192.0.2.1"})
		must.That(t, err == nil, "%v %v", name, err)
		got, err := h.identify(cookie)
		if err != nil || !same(got, p) || got.Role != Operator || got.Method != ByPassword || got.Session == "" {
			t.Errorf("%q: unexpected principal %+v, error %v", name, got, err)
		}
	}
	h.advance(time.Minute)
	for _, c := range []Credentials{
		{Name: "anna", Password: goodPassword + " "}, {Name: "anna", Password: "x"}, {Name: "nobody", Password: goodPassword},
		{Name: "anna'--", Password: goodPassword}, {Name: "anna", Password: strings.ToUpper(goodPassword)},
	} {
		cookie, p, err := h.SignIn(t.Context(), c)
		expect.That(t, errors.Is(err, ErrCredentials) && cookie == nil && p.ID == "", "%+v: unexpected error: %v", c, err)
	}
	expect.Equal(t, len(h.auditRecords(t, auditSignIn)), 3, "sign-ins are recorded")
	h.o.Refusals.Flush()
	refused := h.auditRecords(t, auditRefused)
	expect.Equal(t, countAttempts(t, refused), 5, "refusals are recorded")
	for _, r := range refused {
		if strings.Contains(r.Subject, "nobody") || strings.Contains(r.Subject, "--") {
			t.Errorf("a name that is none is recorded, which may be a password: %q", r.Subject)
		}
	}
}

func TestBlankAndHugePasswordsAreRefusedBeforeTheyAreHashed(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	before := h.hashes.count.Load()
	for _, c := range []Credentials{{}, {Name: "anna"}, {Password: goodPassword}, {Name: "anna", Password: strings.Repeat("x", maxPassword+1)},
		{Name: "anna", Password: strings.Repeat("x", 1<<20)}, {Name: strings.Repeat("x", 1<<20), Password: "x"}} {
		_, _, err := h.SignIn(t.Context(), c)
		refused.As(t, err, fault.Invalid, "a bad attempt")
	}
	expect.Equal(t, h.hashes.count.Load()-before, 0, "hashes were made")
}

func TestUnknownUsersCostOneHashLikeKnownOnes(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	h.add(t, "ben", Viewer)
	must.Do(t, h.DisableUser(t.Context(), Console(), "ben"))
	for _, c := range []Credentials{{Name: "anna", Password: "wrong"}, {Name: "nobody", Password: "wrong"},
		{Name: "ben", Password: goodPassword}} {
		before := h.hashes.count.Load()
		if _, _, err := h.SignIn(t.Context(), c); !errors.Is(err, ErrCredentials) {
			t.Error(c.Name, err)
		}
		if n := h.hashes.count.Load() - before; n != 1 {
			t.Errorf("%s cost %d hashes", c.Name, n)
		}
	}
}

func TestCookiesHaveProtectiveAttributes(t *testing.T) {
	h := newFixture(t, func(o *Options) { o.Secure = true })
	h.add(t, "anna", Viewer)
	c, p := h.signIn(t, "anna")
	if c.Name != "__Host-shardboard" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" ||
		c.MaxAge <= 0 {
		t.Errorf("unexpected cookie: %+v", c)
	}
	if len(c.Value) < 43 || strings.Contains(c.Value, p.Session) {
		t.Errorf("the secret %q is short or holds the session's id", c.Value)
	}
	isPlain := *c
	isPlain.Name = "shardboard"
	expectAnonymous(t, "the cookie without its prefix")(h.identify(&isPlain))
	gone, err := h.SignOut(t.Context(), p)
	if err != nil || gone.Name != c.Name || gone.MaxAge >= 0 || gone.Value != "" || !gone.Secure {
		t.Errorf("unexpected cookie %+v, error %v", gone, err)
	}
	expectAnonymous(t, "after signing out")(h.identify(c))
}

func TestTwoCookiesOfOneNameAreIgnored(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	c, _ := h.signIn(t, "anna")
	r := newRequest("192.0.2.1", c)
	r.AddCookie(&http.Cookie{Name: c.Name, Value: "put-there-by-a-neighbour"})
	expectAnonymous(t, "two cookies")(h.Identify(httptest.NewRecorder(), r))
}

func TestSecretsAreNotInTheDataOrTheLog(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Admin)
	c, p := h.signIn(t, "anna")
	token, _, err := h.CreateToken(t.Context(), p, NewToken{Name: "ci", Role: Viewer, Expires: h.clock().Add(time.Hour)})
	must.Do(t, err)
	if _, _, err := h.SignIn(t.Context(), Credentials{Name: "anna", Password: "wrong-password-typed"}); err == nil {
		t.Fatal("let in")
	}
	must.Do(t, h.db.Close())
	files, err := filepath.Glob(h.dir + "/*")
	must.That(t, err == nil && len(files) != 0, "%v %v", files, err)
	kept := []byte(h.log.String())
	for _, f := range files {
		b := must.Get(os.ReadFile(f))
		kept = append(kept, b...)
	}
	must.That(t, bytes.Contains(kept, []byte("anna")), "no data is stored, so this check proves nothing")
	for what, secret := range map[string]string{"session": c.Value, "token": token, "token's body": token[3:55],
		"password": goodPassword, "wrong password": "wrong-password-typed"} {
		if bytes.Contains(kept, []byte(secret)) || bytes.Contains(kept, []byte(hex.EncodeToString([]byte(secret)))) {
			t.Errorf("the %s is stored or logged", what)
		}
	}
}

func TestSignInChangesTheSecretAndEndsTheSessionBefore(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	old, before := h.signIn(t, "anna")
	ended := h.ended(before)
	fresh, p, err := h.SignIn(t.Context(), Credentials{Name: "anna", Password: goodPassword, Session: before.Session})
	must.That(t, err == nil && fresh.Value != old.Value && p.Session != before.Session, "%v", err)
	expect.That(t, closed(ended), "sockets of the session before stay open")
	expectAnonymous(t, "the secret before")(h.identify(old))
}

func TestOldHashesAreUpgradedToTheCurrentCost(t *testing.T) {
	h := newFixture(t)
	u := h.add(t, "anna", Viewer)
	h.Service = h.service(t, func(o *Options) { o.Cost = Cost{Memory: 128, Time: 1} })
	h.signIn(t, "anna")
	row, err := h.db.User(t.Context(), u.ID)
	if err != nil || !strings.Contains(row.Password, "$m=128,t=1,p=1$") {
		t.Errorf("unexpected hash %s, error %v", row.Password, err)
	}
	h.signIn(t, "anna")
}

func TestTheDefaultCostExceedsTheRecommendedMinimum(t *testing.T) {
	if c := DefaultCost(); c.Memory < 19<<10 || c.Time < 2 {
		t.Errorf("the default cost is too low: %+v", c)
	}
}

// Signed-in people stay signed in, because open files can still be read. Nobody can sign in or
// change anything, because it would be lost.
func TestNobodySignsInWhileTheDataDirectoryIsGone(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Admin)
	cookie, anna := h.signIn(t, "anna")
	must.Do(t, os.Rename(h.dir, h.dir+".away"))
	_, _, err := h.SignIn(t.Context(), Credentials{Name: "anna", Password: goodPassword, From: "192.0.2.1"})
	refused.With(t, err, fault.Unavailable, "was moved or deleted", "signing in")
	if _, err := h.CreateUser(t.Context(), anna, NewUser{Name: "olga", Password: goodPassword, Role: Viewer}); fault.Of(
		err,
	) != fault.Unavailable {
		t.Errorf("adding a user: %v", err)
	}
	if who, err := h.identify(cookie); err != nil || who.Name != "anna" {
		t.Errorf("the signed-in person is identified as %+v, %v", who, err)
	}
	must.Do(t, os.Rename(h.dir+".away", h.dir))
	h.signIn(t, "anna")
}
