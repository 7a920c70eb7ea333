package auth

import (
	"context"
	"net/http"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// formerSecretLifetime is how long the previous secret of a rotated session still finds the new session. A
// page sends several requests at once, and those already on their way when the first answer sets
// the new cookie still carry the old one.
const formerSecretLifetime = 10 * time.Second

// rotate replaces a stale session by one with a new id and secret, and sets its cookie on w. The
// new session ends when the old one would have; p already has the new role. Of many concurrent
// requests one rotates, because the store lets only one of them end the old session.
func (s *Service) rotate(ctx context.Context, w http.ResponseWriter, old string, row store.Session, p Principal) (Principal, error) {
	if !s.o.Store.Owner() {
		return Principal{}, ErrNobody // only the process that owns the data can rotate
	}
	secret, err := newSecret(s.o.Random)
	if err != nil {
		return Principal{}, err
	}
	if p.Session, err = newID(s.o.Random); err != nil {
		return Principal{}, err
	}
	now := s.o.Now()
	next := row
	next.ID, next.Hash, next.Role, next.Used, next.Stale, next.Former = p.Session, digest(
		secret,
	), string(
		p.Role,
	), now, false, now.Add(
		formerSecretLifetime,
	)
	err = s.o.Store.RotateSession(
		ctx,
		row.ID,
		next,
		s.entry(p, auditSessionRotated, p.ID, "ok", "was", row.Role, "role", next.Role, "session", next.ID, "before", row.ID),
	)
	if fault.Of(err) == fault.NotFound {
		return s.byFormerSecret(ctx, old, p.From)
	}
	if err != nil {
		return Principal{}, err
	}
	s.endSessions(row.ID)
	http.SetCookie(w, s.cookie(cookieName, secret, int(next.Expires.Sub(now)/time.Second)))
	return p, nil
}

// byFormerSecret returns the session that just replaced the one of an old secret. A stolen old secret
// gains little: it gets no cookie, so only the client that rotated has the new secret; using it
// does not extend the time limit, which counts from the rotation; a secret that is two rotations
// old finds nothing; and ending the new session ends it too. After formerLasts the old secret is
// worthless.
func (s *Service) byFormerSecret(ctx context.Context, secret, from string) (Principal, error) {
	row, err := s.o.Store.SessionByFormer(ctx, digest(secret))
	if fault.Of(err) == fault.NotFound || err == nil && !validAt(s.o.Now(), row.Former.Add(-formerSecretLifetime), row.Former) {
		return Principal{}, ErrNobody
	}
	if err != nil {
		return Principal{}, err
	}
	p, err := s.sessionPrincipal(ctx, row) // if stale again: an old secret must not rotate the session
	p.From = from
	if err != nil {
		return Principal{}, err
	}
	return p, nil
}
