package auth

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/store"
)

func TestOnlyAdminsManageUsers(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	h.add(t, "root", Admin)
	for _, by := range []Principal{{}, {ID: "user:1", Role: Viewer}, {ID: "user:1", Role: Support}, {ID: "user:1", Role: Operator},
		{ID: "user:1", Role: "root"}, {Role: Admin}} {
		refused.As(t, must.Err(h.Users(t.Context(), by)), fault.Forbidden, "list")
		_, err := h.CreateUser(t.Context(), by, NewUser{Name: "x", Password: goodPassword, Role: Viewer})
		refused.As(t, err, fault.Forbidden, "create")
		refused.As(t, h.SetPassword(t.Context(), by, "anna", goodPassword), fault.Forbidden, "password")
		refused.As(t, h.SetRole(t.Context(), by, "anna", Admin), fault.Forbidden, "role")
		refused.As(t, h.DisableUser(t.Context(), by, "anna"), fault.Forbidden, "disable")
		refused.As(t, h.EnableUser(t.Context(), by, "anna"), fault.Forbidden, "enable")
	}
}

func TestTheLastAdminCannotBeRemoved(t *testing.T) {
	h := newFixture(t)
	h.add(t, "root", Admin)
	refused.As(t, h.DisableUser(t.Context(), Console(), "root"), fault.Conflict, "disable")
	refused.As(t, h.SetRole(t.Context(), Console(), "root", Viewer), fault.Conflict, "demote")
	h.add(t, "anna", Admin)
	must.Do(t, h.DisableUser(t.Context(), Console(), "root"))
	refused.As(t, h.DisableUser(t.Context(), Console(), "anna"), fault.Conflict, "disable the other")
	must.Do(t, h.EnableUser(t.Context(), Console(), "root"))
	must.Do(t, h.SetRole(t.Context(), Console(), "anna", Viewer))
}

func TestNamesAreLowercaseAndNeverReused(t *testing.T) {
	h := newFixture(t)
	h.add(t, "  Anna.B@example ", Viewer)
	_, err := h.CreateUser(t.Context(), Console(), NewUser{Name: "anna.b@EXAMPLE", Password: goodPassword, Role: Viewer})
	refused.As(t, err, fault.Conflict, "the same name")
	for _, name := range []string{"", " ", ".anna", "-x", "anna b", "anna/b", "аnna", "anna\x00", "a\u202eb", "<b>",
		strings.Repeat("a", maxName+1)} {
		_, err := h.CreateUser(t.Context(), Console(), NewUser{Name: name, Password: goodPassword, Role: Viewer})
		refused.As(t, err, fault.Invalid, "%s", name)
	}
	_, err = h.CreateUser(t.Context(), Console(), NewUser{Name: "ben", Password: goodPassword, Role: "root"})
	refused.As(t, err, fault.Invalid, "no role")
}

func TestChangingOnesPasswordNeedsTheCurrentOne(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Viewer)
	_, other := h.signIn(t, "anna")
	c, p := h.signIn(t, "anna")
	change := func(p Principal, present, password string) error {
		_, err := h.ChangePassword(t.Context(), p, present, password)
		return err
	}
	refused.As(t, change(p, "wrong", "another good one"), fault.Invalid, "a wrong present password")
	refused.As(t, change(p, goodPassword, "anna"), fault.Invalid, "a weak new one")
	byToken := Principal{ID: p.ID, Role: Viewer, Method: ByToken}
	refused.As(t, change(byToken, goodPassword, "another good one"), fault.Forbidden, "a token's")
	ended, own := h.ended(other), h.ended(p)
	secret, _, err := h.CreateToken(t.Context(), p, NewToken{Name: "ci", Role: Viewer, Expires: h.clock().Add(time.Hour)})
	must.Do(t, err)
	next, err := h.ChangePassword(t.Context(), p, goodPassword, "another good one")
	must.Do(t, err)
	if _, err := h.identify(c); !errors.Is(err, ErrNobody) {
		t.Errorf("the secret from before the change is valid: %v", err)
	}
	if _, err := h.identify(nil, "Authorization", "Bearer "+secret); !errors.Is(err, ErrNobody) {
		t.Errorf("a token from before the change is valid: %v", err)
	}
	if p, err = h.identify(next); err != nil {
		t.Error("who changed the password is signed out", err)
	}
	expect.That(t, closed(ended) && closed(own), "sockets of the sessions before stay open")
	if _, _, err := h.SignIn(t.Context(), Credentials{Name: "anna", Password: goodPassword}); !errors.Is(err, ErrCredentials) {
		t.Error("the old password is still accepted", err)
	}
	for n := range 100 {
		err := change(p, "guess", "another good one")
		if many := (*TooMany)(nil); errors.As(err, &many) {
			return
		}
		must.That(t, n <= accountPerMinute, "guesses of the current password are not limited")
	}
}

func TestTheFirstLinkWorksOnce(t *testing.T) {
	h := newFixture(t)
	link, err := h.FirstLink(t.Context())
	must.That(t, err == nil && strings.HasPrefix(link, FirstPath+"?key="), "%v %v", link, err)
	must.That(t, !strings.Contains(h.log.String(), link[len(FirstPath)+5:]), "the link is in the log")
	u, _ := url.Parse(link)
	secret := u.Query().Get("key")
	for _, wrong := range []string{"", "x", secret[1:], secret + "A"} {
		if _, _, err := h.ClaimFirst(t.Context(), First{Secret: wrong, Name: "root", Password: goodPassword}); !errors.Is(err, ErrLink) {
			t.Errorf("%q: unexpected error: %v", wrong, err)
		}
	}
	_, _, err = h.ClaimFirst(t.Context(), First{Secret: secret, Name: "root", Password: "short"})
	refused.As(t, err, fault.Invalid, "a weak password")
	c, p, err := h.ClaimFirst(t.Context(), First{Secret: secret, Name: "root", Password: goodPassword})
	must.That(t, err == nil && p.Role == Admin, "%v %v", p, err)
	if got, err := h.identify(c); err != nil || got.ID != p.ID {
		t.Error(got, err)
	}
	if _, _, err := h.ClaimFirst(t.Context(), First{Secret: secret, Name: "second", Password: goodPassword}); !errors.Is(err, ErrLink) {
		t.Error("the link works twice", err)
	}
	if link, err := h.FirstLink(t.Context()); link != "" || err != nil {
		t.Error("there is a link while there are users", err)
	}
}

// Beside an issuer, the link is over with the first admin who came by it; an older release did not remember that, but
// the audit record did.
func TestTheFirstLinkIsOverWhenSomebodyFromOutsideHasBeenAdmin(t *testing.T) {
	for _, c := range []struct {
		group string
		older bool
		link  bool
	}{{"staff", false, true}, {"dba", false, false}, {"dba", true, false}} {
		both := func(o *Options) { withIssuer(issuerWithGroups(c.group))(o); o.Mode = "local,oidc" }
		h := newFixture(t, both)
		if link, err := h.FirstLink(t.Context()); link == "" || err != nil {
			t.Errorf("%+v: before: %q, %v", c, link, err)
		}
		if c.older {
			_, err := h.db.Append(t.Context(), store.AuditEntry{At: h.clock(), What: auditSignIn, Via: "oidc", By: "oidc:x", Outcome: "ok",
				Details: map[string]string{"role": "admin"}})
			must.Do(t, err)
		} else if cookie, err := h.callback(t); cookie == nil || err != nil {
			t.Fatal(err)
		}
		next := h.service(t, both)
		link, err := next.FirstLink(t.Context())
		offers, e := next.Offers(t.Context())
		if (link != "") != c.link || offers.First != c.link || err != nil || e != nil {
			t.Errorf("%+v: %q, %v, offers %+v, %v", c, link, err, offers, e)
		}
		next.o.FirstLink = true
		if link, err := next.FirstLink(t.Context()); link == "" || err != nil {
			t.Errorf("%+v: asked for: %q, %v", c, link, err)
		}
	}
}

func TestTheFirstLinkEndsAfterAnHourOrWithTheFirstUser(t *testing.T) {
	secret := func(h *fixture) string {
		link, err := h.FirstLink(t.Context())
		must.Do(t, err)
		u, _ := url.Parse(link)
		return u.Query().Get("key")
	}
	h := newFixture(t)
	old := secret(h)
	h.advance(firstLinkLifetime)
	if _, _, err := h.ClaimFirst(t.Context(), First{Secret: old, Name: "root", Password: goodPassword}); !errors.Is(err, ErrLink) {
		t.Error("after an hour", err)
	}
	fresh := secret(h)
	must.Do(t, func() error {
		_, err := h.service(t).CreateUser(t.Context(), Console(), NewUser{Name: "root", Password: goodPassword, Role: Admin})
		return err
	}())
	if _, _, err := h.ClaimFirst(t.Context(), First{Secret: fresh, Name: "evil", Password: goodPassword}); !errors.Is(err, ErrLink) {
		t.Error("although another process made a user", err)
	}
}

func TestBreakGlassWorksWithoutPasswordSignInAndIsLogged(t *testing.T) {
	h := newFixture(t)
	h.add(t, "anna", Admin)
	if _, err := h.CreateUser(t.Context(), Console(),
		NewUser{Name: "glass", Password: goodPassword, Role: Viewer, BreakGlass: true}); err != nil {
		t.Fatal(err)
	}
	h.Service = h.service(t, withIssuer(&fakeIssuer{down: true}))
	if _, _, err := h.SignIn(t.Context(), Credentials{Name: "anna", Password: goodPassword}); !errors.Is(err, ErrCredentials) {
		t.Errorf("an ordinary account while passwords are off: %v", err)
	}
	if f, err := h.Offers(t.Context()); err != nil || !f.Password || !f.OIDC {
		t.Errorf("unexpected sign-in %+v, error %v", f, err)
	}
	c, p := h.signIn(t, "glass")
	expect.That(t, p.Role == Admin && p.Method == ByBreakGlass && c.MaxAge == 3600, "%+v for %d s", p, c.MaxAge)
	expect.Contains(t, h.log.String(), "level=ERROR msg=\"the break-glass account is in use\"",
		"the log does not mention the break-glass sign-in")
	used := h.auditRecords(t, auditBreakGlass)
	expect.That(t, len(used) == 1 && used[0].Via == "break-glass" && used[0].By == p.ID, "unexpected records: %+v", used)
	_, _, err := h.CreateToken(t.Context(), p, NewToken{Name: "stays", Role: Admin, Expires: h.clock().Add(time.Hour)})
	refused.As(t, err, fault.Forbidden, "a token that stays")
	refused.As(t, h.SetRole(t.Context(), Console(), "glass", Viewer), fault.Invalid, "another role")
	h.advance(breakGlassMax)
	expectAnonymous(t, "after an hour")(h.identify(c))
}

func TestAccountsAreNotChangedWhileSignInIsOff(t *testing.T) {
	for _, mode := range []Mode{ModeNone, ModeDemo} {
		h := newFixture(t, func(o *Options) { o.Mode = mode })
		p, err := h.identify(nil, "Authorization", "Bearer nonsense")
		must.That(t, err == nil && p.ID != "", "%v %v", p, err)
		if mode == ModeDemo && (p.Role != Operator || p.Method != ByDemo) ||
			mode == ModeNone && (p.ID != "local" || p.Role != Admin || p.Method != ByNone) {
			t.Errorf("%s: unexpected principal: %+v", mode, p)
		}
		expect.That(t, endKey(p) == "" && h.Check(t.Context(), p) == nil, "%s: the session can be ended", mode)
		by := p
		by.Role = Admin
		if _, err := h.CreateUser(t.Context(), by, NewUser{Name: "x", Password: goodPassword, Role: Admin}); !errors.Is(err, ErrNoAccounts) {
			t.Errorf("%s: user: %v", mode, err)
		}
		if _, _, err := h.CreateToken(t.Context(), by, NewToken{Name: "x", Role: Admin, Expires: h.clock().Add(time.Hour)}); !errors.Is(
			err,
			ErrNoAccounts,
		) {
			t.Errorf("%s: token: %v", mode, err)
		}
		if link, _ := h.FirstLink(t.Context()); link != "" {
			t.Errorf("%s: there is a first link", mode)
		}
	}
}

func TestSessionsAndTokensOfOneAccountAreOnePerson(t *testing.T) {
	token := func(owner string) Principal { return Principal{ID: "token:1", Method: ByToken, Owner: owner} }
	for want, list := range map[string][]Principal{
		"user:1":          {{ID: "user:1", Method: ByPassword}, {ID: "user:1", Method: ByBreakGlass}, token("user:1")},
		"oidc:x:anna":     {{ID: "oidc:x:anna", Method: ByOIDC}, token("oidc:x:anna")},
		"proxy:anna":      {{ID: "proxy:anna", Method: ByProxy}, token("proxy:anna")},
		"" /* unknown */ : {{}, Local(), Console(), {ID: "demo", Method: ByDemo}, token("console"), token(""), token("anna"), token("token:2")},
	} {
		for _, p := range list {
			expect.Equal(t, p.Person(), want, "%+v", p)
		}
	}
}

func TestTokensSayWhoseTheyAre(t *testing.T) {
	for want, p := range map[string]Principal{
		"ci, a token of anna": {ID: "token:1", Name: "ci", Method: ByToken, Owner: "user:1", OwnerName: "anna"},
		"ci, a token of oidc": {ID: "token:1", Name: "ci", Method: ByToken, Owner: "oidc"},
		"ci":                  {ID: "token:1", Name: "ci", Method: ByToken},
		"anna":                {ID: "user:1", Name: "anna", Method: ByPassword, OwnerName: "nobody"},
	} {
		expect.Equal(t, p.NameAndOwner(), want, "%+v", p)
	}
}

// signInByOIDC signs a person in at the issuer and returns the principal.
func (h *fixture) signInByOIDC(t *testing.T, f *fakeIssuer, subject, name string) Principal {
	t.Helper()
	f.claims = Claims{Issuer: "https://issuer.example", Subject: subject, Name: name, Groups: []string{"ops"}}
	c, err := h.callback(t)
	must.Do(t, err)
	p, err := h.identify(c)
	must.Do(t, err)
	return p
}

func TestOIDCUsersAreShownByNameAndIdentifiedByID(t *testing.T) {
	f := issuerWithGroups()
	h := newFixture(t, withIssuer(f))
	first, second := h.signInByOIDC(t, f, "sub-1", "Anna"), h.signInByOIDC(t, f, "sub-2", "Anna")
	if first.ID == second.ID || first.Name != "Anna" || second.Name != "Anna" {
		t.Errorf("unexpected principals %+v and %+v", first, second)
	}
	renamed := h.signInByOIDC(t, f, "sub-1", "Anna B")
	nameless := h.signInByOIDC(t, f, "sub-3", "")
	if renamed.ID != first.ID || renamed.Name != "Anna B" || nameless.Name != "sub-3" {
		t.Errorf("unexpected principals %+v and %+v", renamed, nameless)
	}
	names, err := PeopleNames(t.Context(), h.db)
	if err != nil || len(names) != 3 || names[first.ID] != "Anna B" || names[second.ID] != "Anna" || names[nameless.ID] != "sub-3" {
		t.Errorf("unexpected names %v, error %v", names, err)
	}
	logins := h.auditRecords(t, auditSignIn)
	if len(logins) != 4 || logins[0].By != first.ID || logins[0].Details["name"] != "Anna" || logins[2].By != first.ID ||
		logins[2].Details["name"] != "Anna B" {
		t.Errorf("unexpected sign-in records: %+v", logins)
	}
	h.token(t, first, Viewer)
	tokens, err := h.Tokens(t.Context(), Principal{ID: "x", Role: Admin})
	if err != nil || len(tokens) != 1 || tokens[0].Owner != first.ID || tokens[0].OwnerName != "Anna B" {
		t.Errorf("unexpected tokens %+v, error %v", tokens, err)
	}
	sessions, err := h.Sessions(t.Context(), Principal{ID: "x", Role: Admin})
	if err != nil || len(sessions) != 4 || sessions[0].Name == "" || sessions[0].Subject == "" {
		t.Errorf("unexpected sessions %+v, error %v", sessions, err)
	}
}

func TestStoredNamesAreBoundedAndWrittenOnlyWhenTheyChange(t *testing.T) {
	h := newFixture(t, withIssuer(issuerWithGroups()))
	if err := h.db.SetSetting(t.Context(), peopleSetting, "null"); err != nil { // an invalid list
		t.Fatal(err)
	}
	note := func(id, name string) string {
		t.Helper()
		must.Do(t, h.writeName(t.Context(), Principal{ID: id, Name: name}))
		text, err := h.db.Setting(t.Context(), peopleSetting)
		must.Do(t, err)
		return text
	}
	was := note("oidc:a:1", "Anna")
	h.advance(time.Hour)
	expect.Equal(t, note("oidc:a:1", "Anna"), was, "written again within the hour")
	h.advance(nameRefresh)
	expect.That(t, note("oidc:a:1", "Anna") != was, "the time of a person who signs in again was not updated")
	people := map[string]person{}
	for n := range maxPeople {
		people[fmt.Sprint("oidc:a:many", n)] = person{Name: "x", At: h.clock().Add(time.Duration(n) * time.Second)}
	}
	must.Do(t, h.setPeople(t.Context(), people))
	h.advance(24 * time.Hour)
	note("oidc:a:new", "New")
	names, err := PeopleNames(t.Context(), h.db)
	_, oldest := names["oidc:a:many0"]
	_, next := names["oidc:a:many1"]
	if err != nil || len(names) != maxPeople || oldest || !next || names["oidc:a:new"] != "New" {
		t.Errorf("%d names, %v, %v, %v", len(names), oldest, next, err)
	}
}
