package auth

import (
	"context"
	"crypto/subtle"
	"net/http"
	"net/url"
	"sync"
	"time"

	"shardboard/internal/fault"
)

const firstLasts = time.Hour

// firstLink is the way in for the first admin. Only its digest is kept, and
// only in memory: a restart makes another one.
type firstLink struct {
	mu    sync.Mutex
	hash  []byte
	until time.Time
}

// FirstPath is the page that the first admin's link opens.
const FirstPath = "/login/first"

// FirstLink makes the address, without scheme and host, by which the first
// admin comes in once within an hour; "" when there are users or passwords are
// no way in. The secret is in the query, which is never logged, and it has to
// be shown to the terminal alone, never to the log. A fragment would be kept
// from proxies too, but needs a script to be read.
func (s *Service) FirstLink(ctx context.Context) (string, error) {
	offers, err := s.Offers(ctx)
	if err != nil || !offers.First || offers.ReadOnly {
		return "", err
	}
	secret, err := newSecret(s.o.Random)
	if err != nil {
		return "", err
	}
	s.first.mu.Lock()
	defer s.first.mu.Unlock()
	s.first.hash, s.first.until = digest(secret), s.o.Now().Add(firstLasts)
	return FirstPath + "?" + url.Values{"key": {secret}}.Encode(), nil
}

func (l *firstLink) opens(secret string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.until.Sub(now) // more than it had: the clock was set back
	return l.hash != nil && left > 0 && left <= firstLasts && subtle.ConstantTimeCompare(l.hash, digest(secret)) == 1
}

func (l *firstLink) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hash = nil
}

// ClaimFirst makes the first admin and signs in. A name or password that does
// not do leaves the link as it is.
func (s *Service) ClaimFirst(ctx context.Context, f First) (*http.Cookie, Principal, error) {
	nobody := Principal{Method: ByPassword, From: f.From}
	if !s.first.opens(f.Secret, s.o.Now()) {
		if wait, first := s.limits.wrong(wrongLink, f.From); wait > 0 {
			if first {
				s.refused(ctx, nobody, auditLimited, "", "wrong links")
			}
			return nil, Principal{}, &TooMany{Wait: wait}
		}
		s.refused(ctx, nobody, auditRefused, "", "no such link")
		return nil, Principal{}, ErrLink
	}
	u, err := s.account(ctx, NewUser{Name: f.Name, Password: f.Password, Role: Admin})
	if err != nil {
		return nil, Principal{}, err
	}
	p := Principal{ID: "user:" + u.ID, Name: u.Name, Role: Admin, Method: ByPassword, From: f.From}
	err = s.o.Store.CreateFirstUser(ctx, u, s.entry(p, auditUserCreated, p.ID, "ok", "name", u.Name, "role", u.Role, "by", "first link"))
	if fault.Of(err) == fault.Conflict {
		s.first.close()
		return nil, Principal{}, ErrLink
	}
	if err != nil {
		return nil, Principal{}, err
	}
	s.first.close()
	return s.begin(ctx, p, "")
}
