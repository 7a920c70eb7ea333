package auth

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const (
	cookieName   = "shardboard"
	securePrefix = "__Host-"   // browsers accept it only with Secure, Path=/ and no Domain
	belowPrefix  = "__Secure-" // only with Secure: below a path, so that a neighbour's page does not get it
)

// SignIn checks a name and password. It does the same work for an unknown name, and its answer does
// not reveal which of the two was wrong.
func (s *Service) SignIn(ctx context.Context, c Credentials) (*http.Cookie, Principal, error) {
	name := strings.ToLower(strings.TrimSpace(c.Name))
	if err := checkAttempt(name, c.Password); err != nil {
		return nil, Principal{}, err
	}
	nobody := Principal{Method: ByPassword, From: c.From}
	if wait, first := s.attempt(ctx, name, c.From); wait > 0 {
		if first {
			s.refused(ctx, nobody, auditLimited, s.knownName(ctx, name), "too many attempts")
		}
		return nil, Principal{}, &TooMany{Wait: wait}
	}
	if !s.o.Store.Owner() {
		return nil, Principal{}, store.ErrReadOnly
	}
	u, err := s.o.Store.UserByName(ctx, name)
	if err != nil && fault.Of(err) != fault.NotFound {
		return nil, Principal{}, err
	}
	ok, stale, err := s.hashes.match(ctx, s.limits.client(c.From), c.Password, u.Password)
	if busy := (*Busy)(nil); errors.As(err, &busy) {
		s.refused(ctx, nobody, auditLimited, s.subject(u), "too many sign-ins at once; the password was not checked")
	}
	if err != nil {
		return nil, Principal{}, err
	}
	method := ByPassword
	if u.BreakGlass {
		method = ByBreakGlass
	}
	if !ok || u.Disabled || !s.accepts(method) {
		s.refused(ctx, nobody, auditRefused, s.subject(u), refusalReason(ok, u))
		return nil, Principal{}, ErrCredentials
	}
	s.succeeded(ctx, name, c.From)
	p := Principal{ID: "user:" + u.ID, Name: u.Name, Role: Role(u.Role), Method: method, From: c.From}
	if method == ByBreakGlass {
		if err := s.recordBreakGlass(ctx, p); err != nil {
			return nil, Principal{}, err
		}
	}
	cookie, p, err := s.startSession(ctx, p, c.Session)
	if err == nil && stale {
		s.rehash(ctx, u, c.Password)
	}
	return cookie, p, err
}

// subject is the audit subject of an attempt. An unknown name is not recorded: it may be a password
// typed into the wrong field.
func (s *Service) subject(u store.User) string {
	if u.ID == "" {
		return ""
	}
	return "user:" + u.ID
}

func (s *Service) knownName(ctx context.Context, name string) string {
	u, err := s.o.Store.UserByName(ctx, name)
	if err != nil {
		return ""
	}
	return s.subject(u)
}

// refusalReason is the reason for the audit record; the client does not see it.
func refusalReason(ok bool, u store.User) string {
	switch {
	case u.ID == "":
		return "unknown name"
	case !ok:
		return "wrong password"
	case u.Disabled:
		return "disabled account"
	}
	return "password sign-in is off"
}

// recordBreakGlass records the use of the emergency account before the session starts.
func (s *Service) recordBreakGlass(ctx context.Context, p Principal) error {
	s.o.Log.Error("the break-glass account is in use", "user", p.Name, "from", p.From, "for", breakGlassMax)
	_, err := s.o.Store.Append(ctx, s.entry(p, auditBreakGlass, p.ID, "ok"))
	return err
}

// rehash stores the password with the current cost; only a sign-in has the password to do so. A
// failure is only logged, because the next sign-in tries again.
func (s *Service) rehash(ctx context.Context, u store.User, password string) {
	hash, err := s.hashes.compute(ctx, password)
	if err == nil {
		_, err = s.o.Store.ChangeUser(ctx, u.ID, store.UserChange{Password: &hash},
			s.entry(Principal{ID: "user:" + u.ID}, auditUserPassword, "user:"+u.ID, "ok", "why", "hashed again at the present cost"))
	}
	if err != nil {
		s.o.Log.Warn("hash a password again", "err", err)
	}
}

// startSession creates a session with a new secret and ends the one that the browser had.
func (s *Service) startSession(ctx context.Context, p Principal, replaces string) (*http.Cookie, Principal, error) {
	secret, err := newSecret(s.o.Random)
	if err != nil {
		return nil, Principal{}, err
	}
	if p.Session, err = newID(s.o.Random); err != nil {
		return nil, Principal{}, err
	}
	now := s.o.Now()
	s.sweep(ctx, now)
	row := store.Session{ID: p.Session, Hash: digest(secret), Subject: p.ID, Name: p.Name, Role: string(p.Role), Method: string(p.Method),
		From: p.From, Created: now, Used: now, Expires: now.Add(s.maxLifetime(p.Method)), Groups: p.Groups}
	details := []string{"role", string(p.Role), "session", p.Session}
	if p.Method == ByOIDC {
		details = append(details, "name", p.Name) // the account is at the issuer, and its name can change there
	}
	if err := s.o.Store.CreateSession(ctx, row, replaces, s.entry(p, auditSignIn, p.ID, "ok", details...)); err != nil {
		return nil, Principal{}, err
	}
	s.noteAdmin(ctx, p)
	if replaces != "" {
		s.endSessions(replaces)
	}
	return s.cookie(cookieName, secret, int(s.maxLifetime(p.Method)/time.Second)), p, nil
}

// maxLifetime is the longest lifetime of a session by its method.
func (s *Service) maxLifetime(m Method) time.Duration {
	switch m {
	case ByBreakGlass:
		return min(breakGlassMax, s.o.Max)
	case ByOIDC:
		return min(oidcMax, s.o.Max)
	}
	return s.o.Max
}

// sweep deletes sessions that expired, so that the table stays as small as the number of users. It
// also deletes those that a change of the clock ended, so that they are not valid again later.
func (s *Service) sweep(ctx context.Context, now time.Time) {
	ids, err := s.o.Store.DropSessions(ctx, now, now.Add(-s.o.Idle), now.Add(clock.Slack))
	if err != nil {
		s.o.Log.Warn("delete ended sessions", "err", err)
	}
	s.endSessions(ids...)
}

// SignOut ends p's session.
func (s *Service) SignOut(ctx context.Context, p Principal) (*http.Cookie, error) {
	gone := s.cookie(cookieName, "", -1)
	if p.Session == "" {
		return gone, nil
	}
	err := s.o.Store.EndSession(ctx, p.Session, s.entry(p, auditSignOut, p.ID, "ok", "session", p.Session))
	s.endSessions(p.Session)
	if fault.Of(err) == fault.NotFound {
		err = nil // it has already ended
	}
	if err != nil {
		return nil, err
	}
	return gone, nil
}

// IssuerSignOut is where somebody who signs out goes to sign out at the issuer too; "" if it is not set up, the issuer
// does not offer it or does not answer.
func (s *Service) IssuerSignOut(ctx context.Context, p Principal) string {
	if p.Method != ByOIDC || !s.o.EndIssuer || s.o.Issuer == nil {
		return ""
	}
	to, err := s.o.Issuer.EndSession(ctx, s.o.PublicURL+"/login")
	if err != nil {
		s.o.Log.Warn("sign out at the issuer", "err", err)
		return ""
	}
	return to
}

// cookie makes a cookie that scripts cannot read and that other sites' requests do not carry,
// except when a link is followed. SameSite=Strict would sign people out at each link from a ticket
// and at the redirect from an issuer.
func (s *Service) cookie(name, value string, maxAge int) *http.Cookie {
	name = s.cookiePrefix() + name
	return &http.Cookie{
		Name:     name,
		Value:    value,
		Path:     cmp.Or(s.root, "/"),
		MaxAge:   maxAge,
		Secure:   s.o.Secure,
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	}
}

// cookiePrefix is what the names of cookies have before them. Browsers hold a cookie to it.
func (s *Service) cookiePrefix() string {
	switch {
	case !s.o.Secure:
		return ""
	case s.root != "":
		return belowPrefix
	}
	return securePrefix
}

// sessionSecret is the cookie's value; "" when there is none, or several, of which a neighbouring
// site may have set one.
func (s *Service) sessionSecret(r *http.Request) string { return s.cookieValue(r, cookieName) }

func (s *Service) cookieValue(r *http.Request, name string) string {
	name = s.cookiePrefix() + name
	found := r.CookiesNamed(name)
	if len(found) != 1 || len(found[0].Value) > 4096 {
		return ""
	}
	return found[0].Value
}
