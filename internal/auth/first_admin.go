package auth

import (
	"context"
	"crypto/subtle"
	"net/http"
	"net/url"
	"sync"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/store/audit"
)

const firstLinkLifetime = time.Hour

// firstLink creates the first admin. Only its digest is kept, in memory, so a restart makes a new
// link. Replicas that share a store keep it there too (sharedLink).
type firstLink struct {
	mu    sync.Mutex
	hash  []byte
	until time.Time
}

// FirstPath is the page that the first admin's link opens.
const FirstPath = "/login/first"

// FirstLink makes the address, without scheme and host, that creates the first admin. It works once
// within an hour. It is "" when users exist, somebody has been admin by the issuer or a proxy, or password sign-in is
// off. The secret is in the query,
// which is never logged; print the link to the terminal and never to the log. A fragment would also
// hide it from proxies, but only a script can read a fragment.
func (s *Service) FirstLink(ctx context.Context) (string, error) {
	offers, err := s.Offers(ctx)
	if err != nil || !offers.First || offers.ReadOnly {
		return "", err
	}
	if !s.o.FirstLink {
		if had, err := s.recordedAdmin(ctx); err != nil || had {
			return "", err
		}
	}
	secret, err := newSecret(s.o.Random)
	if err != nil {
		return "", err
	}
	until := s.o.Now().Add(firstLinkLifetime)
	if s.o.Store.Leader().Shared {
		if err := s.o.Store.SetSetting(ctx, sharedLink(secret), until.UTC().Format(time.RFC3339)); err != nil {
			return "", err
		}
	}
	s.first.mu.Lock()
	defer s.first.mu.Unlock()
	s.first.hash, s.first.until = digest(secret), until
	return FirstPath + "?" + url.Values{"key": {secret}}.Encode(), nil
}

// adminSetting is set when somebody from outside has been admin. They can make accounts, so that a link that makes an
// admin would only be a risk.
const adminSetting = "admin-from-outside"

// noteAdmin remembers that somebody has been admin.
func (s *Service) noteAdmin(ctx context.Context, p Principal) {
	if p.Role != Admin || p.Method != ByOIDC && p.Method != ByProxy || s.adminNoted.Load() || !s.o.Store.Owner() {
		return
	}
	if err := s.o.Store.SetSetting(ctx, adminSetting, s.o.Now().UTC().Format(time.RFC3339)); err != nil {
		s.o.Log.Warn("remember that somebody has been admin", "err", err)
		return
	}
	s.adminNoted.Store(true)
}

func (s *Service) hadAdmin(ctx context.Context) (bool, error) {
	_, err := s.o.Store.Setting(ctx, adminSetting)
	if fault.Of(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}

// recordedAdmin looks in the audit record for an admin of an earlier release, which did not remember them. It is looked
// at only at a start without accounts.
func (s *Service) recordedAdmin(ctx context.Context) (bool, error) {
	found := audit.Found{More: true}
	for found.More {
		var err error
		if found, err = audit.Newest(ctx, s.o.Store, audit.Filter{What: auditSignIn}, found.Next, 1000); err != nil {
			return false, err
		}
		for _, r := range found.Records {
			p := Principal{Role: Role(r.Details["role"]), Method: Method(r.Via)}
			if p.Role == Admin && (p.Method == ByOIDC || p.Method == ByProxy) {
				s.noteAdmin(ctx, p)
				return true, nil
			}
		}
	}
	return false, nil
}

func (l *firstLink) opens(secret string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hash != nil && linkValid(l.until, now) && subtle.ConstantTimeCompare(l.hash, digest(secret)) == 1
}

// linkValid is false when more than the lifetime is left: the clock was set back.
func linkValid(until, now time.Time) bool {
	left := until.Sub(now)
	return left > 0 && left <= firstLinkLifetime+clock.Slack
}

// sharedLink is the name of the setting with the end of a link, by its digest. Each replica prints a
// link of its own, and a load balancer may pass whoever opens it to another one.
func sharedLink(secret string) string { return "first-link." + plain32.EncodeToString(digest(secret)) }

// opensFirst reports whether a secret is that of a link, of this process or of a replica.
func (s *Service) opensFirst(ctx context.Context, secret string) (bool, error) {
	if s.first.opens(secret, s.o.Now()) {
		return true, nil
	}
	if !s.o.Store.Leader().Shared {
		return false, nil
	}
	text, err := s.o.Store.Setting(ctx, sharedLink(secret))
	if fault.Of(err) == fault.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	until, err := time.Parse(time.RFC3339, text)
	return err == nil && linkValid(until, s.o.Now()), nil
}

func (l *firstLink) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hash = nil
}

// ClaimFirst creates the first admin and signs them in. The link stays valid when the name or
// password is rejected.
func (s *Service) ClaimFirst(ctx context.Context, f First) (*http.Cookie, Principal, error) {
	nobody := Principal{Method: ByPassword, From: f.From}
	opens, err := s.opensFirst(ctx, f.Secret)
	if err != nil {
		return nil, Principal{}, err
	}
	if !opens {
		if wait, first := s.limits.failed(failedLink, f.From); wait > 0 {
			if first {
				s.refused(ctx, nobody, auditLimited, "", "wrong links")
			}
			return nil, Principal{}, &TooMany{Wait: wait}
		}
		s.refused(ctx, nobody, auditRefused, "", "no such link")
		return nil, Principal{}, ErrLink
	}
	u, err := s.newAccount(ctx, NewUser{Name: f.Name, Password: f.Password, Role: Admin})
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
	return s.startSession(ctx, p, "")
}
