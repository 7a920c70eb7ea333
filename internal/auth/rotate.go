package auth

import (
	"context"
	"net/http"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// formerLasts is how long the secret of a session that was rotated still finds
// the new one. A page asks for several things at once, and those that were on
// their way when the first one got the new cookie bring the old one.
const formerLasts = 10 * time.Second

// rotate puts a session with another id and secret in the place of a stale one
// and gives its cookie to w. It lasts no longer than the one before; p, who is
// asking, has the new role already. Of many requests at once one does it: the
// store lets one of them end the old session.
func (s *Service) rotate(ctx context.Context, w http.ResponseWriter, old string, row store.Session, p Principal) (Principal, error) {
	if !s.o.Store.Owner() {
		return Principal{}, ErrNobody // the one that owns the data can
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
	next.ID, next.Hash, next.Role, next.Used, next.Stale, next.Former = p.Session, digest(secret), string(p.Role), now, false, now.Add(formerLasts)
	err = s.o.Store.RotateSession(ctx, row.ID, next, s.entry(p, auditRotated, p.ID, "ok", "was", row.Role, "role", next.Role, "session", next.ID, "before", row.ID))
	if fault.Of(err) == fault.NotFound {
		return s.byFormer(ctx, old, p.From)
	}
	if err != nil {
		return Principal{}, err
	}
	s.endSessions(row.ID)
	http.SetCookie(w, s.cookie(cookieName, secret, int(next.Expires.Sub(now)/time.Second)))
	return p, nil
}

// byFormer is the session that has just replaced the one of a secret. A stolen
// secret gains nothing by it: no cookie is given, so the new secret is only with
// who made the rotation; no use extends the seconds, which count from the
// rotation; one that is two rotations old finds nothing; and whatever ends the
// new session ends this too. Afterwards the secret is as good as any random one.
func (s *Service) byFormer(ctx context.Context, secret, from string) (Principal, error) {
	row, err := s.o.Store.SessionByFormer(ctx, digest(secret))
	if fault.Of(err) == fault.NotFound || err == nil && !between(s.o.Now(), row.Former.Add(-formerLasts), row.Former) {
		return Principal{}, ErrNobody
	}
	if err != nil {
		return Principal{}, err
	}
	p, err := s.sessionPrincipal(ctx, row) // stale again: it does not rotate by a secret that is no more
	p.From = from
	if err != nil {
		return Principal{}, err
	}
	return p, nil
}
