package auth

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const touchMaxInterval = time.Minute

// Identify returns who sent a request. When the first credential found is wrong, later ones are not
// tried. It sets a cookie on w when the session was rotated.
func (s *Service) Identify(w http.ResponseWriter, r *http.Request) (Principal, error) {
	ctx, from := r.Context(), s.ClientAddr(r)
	switch {
	case s.o.Mode.Has(ModeNone):
		p := Local()
		p.From = from
		return p, nil
	case s.o.Mode.Has(ModeDemo):
		return Principal{ID: "demo", Name: "demo", Role: Operator, Method: ByDemo, From: from}, nil
	}
	if values := r.Header.Values("Authorization"); len(values) > 0 && !s.isForProxy(values) {
		return s.byToken(ctx, values, from)
	}
	if secret := s.sessionSecret(r); secret != "" {
		p, err := s.bySession(ctx, w, secret, from)
		if err == nil || fault.Of(err) != fault.Forbidden || !s.o.Mode.Has(ModeProxy) {
			return p, err
		}
	}
	return s.byProxy(ctx, r, from)
}

// isForProxy reports whether an Authorization header was meant for the proxy, which passed it on:
// some proxies ask for a password themselves. It is ignored here.
func (s *Service) isForProxy(values []string) bool {
	scheme, _, _ := strings.Cut(values[0], " ")
	return s.o.Mode.Has(ModeProxy) && !strings.EqualFold(scheme, "Bearer")
}

func (s *Service) byToken(ctx context.Context, values []string, from string) (Principal, error) {
	scheme, secret, _ := strings.Cut(values[0], " ")
	if len(values) != 1 || !strings.EqualFold(scheme, "Bearer") || !hasTokenFormat(secret) {
		return s.refuseToken(ctx, from)
	}
	t, err := s.o.Store.TokenByHash(ctx, digest(secret))
	if fault.Of(err) == fault.NotFound {
		return s.refuseToken(ctx, from)
	}
	if err != nil {
		return Principal{}, err
	}
	p, err := s.tokenPrincipal(ctx, t)
	if err != nil {
		return Principal{}, err
	}
	if now := s.o.Now(); now.Sub(t.Used).Abs() >= touchMaxInterval && s.o.Store.Owner() {
		s.logTouchFailure(s.o.Store.TouchToken(ctx, t.ID, now))
	}
	p.From = from
	return p, nil
}

func (s *Service) refuseToken(ctx context.Context, from string) (Principal, error) {
	wait, first := s.limits.failed(failedToken, from)
	if wait > 0 {
		if first {
			s.refused(ctx, Principal{Method: ByToken, From: from}, auditLimited, "", "wrong tokens")
		}
		return Principal{}, &TooMany{Wait: wait}
	}
	s.refused(ctx, Principal{Method: ByToken, From: from}, auditRefused, "", "no such token")
	return Principal{}, ErrNobody
}

// tokenPrincipal returns the principal of a token. Its role is never greater than its owner's
// current role.
func (s *Service) tokenPrincipal(ctx context.Context, t store.Token) (Principal, error) {
	role, bound := Role(t.Role), boundTo(t)
	if !t.Revoked.IsZero() || !s.o.Now().Before(t.Expires) || role.Known() == (bound != nil) {
		return Principal{}, ErrNobody
	}
	p := Principal{ID: "token:" + t.ID, Name: t.Name, Method: ByToken, Owner: t.Owner, OwnerRole: cmp.Or(Role(t.OwnerRole), role),
		Groups: t.OwnerGroups, Clusters: bound}
	if id, ok := strings.CutPrefix(t.Owner, "user:"); ok {
		u, err := s.o.Store.User(ctx, id)
		if fault.Of(err) == fault.NotFound || err == nil && u.Disabled {
			return Principal{}, ErrNobody
		}
		if err != nil {
			return Principal{}, err
		}
		if bound == nil && !Role(u.Role).Includes(role) {
			role = Role(u.Role)
		}
		p.OwnerName, p.OwnerRole = u.Name, Role(u.Role)
	}
	p.Role = role
	return p, nil
}

func (s *Service) bySession(ctx context.Context, w http.ResponseWriter, secret, from string) (Principal, error) {
	row, err := s.o.Store.SessionByHash(ctx, digest(secret))
	if fault.Of(err) == fault.NotFound {
		return s.byFormerSecret(ctx, secret, from)
	}
	if err != nil {
		return Principal{}, err
	}
	p, stale, err := s.checkSession(ctx, row)
	if err != nil {
		return Principal{}, err
	}
	p.From = from
	if stale {
		return s.rotate(ctx, w, secret, row, p)
	}
	// A use is stored often enough for the shortest idle timeout.
	if now := s.o.Now(); now.Sub(row.Used) >= min(touchMaxInterval, s.o.Idle/4) && s.o.Store.Owner() {
		s.logTouchFailure(s.o.Store.TouchSession(ctx, row.ID, now))
	}
	return p, nil
}

// logTouchFailure logs that a use could not be stored. It is not an error for the request: people
// can still read while the disk is full, until the session's idle timeout ends it.
func (s *Service) logTouchFailure(err error) {
	if err != nil {
		s.o.Log.Warn("note the use of a session or token", "err", err)
	}
}

// sessionPrincipal returns the principal of a session that is valid and need not be rotated first.
func (s *Service) sessionPrincipal(ctx context.Context, row store.Session) (Principal, error) {
	p, stale, err := s.checkSession(ctx, row)
	if stale {
		return Principal{}, ErrNobody
	}
	return p, err
}

// checkSession returns the principal of a valid session. A local account is read again each time
// and has its current role; a user from outside keeps the role of the sign-in. stale means that the
// role changed since: the session must be rotated before it is used.
func (s *Service) checkSession(ctx context.Context, row store.Session) (p Principal, stale bool, err error) {
	now := s.o.Now()
	p = Principal{ID: row.Subject, Name: row.Name, Role: Role(row.Role), Method: Method(row.Method), Session: row.ID, From: row.From,
		Groups: row.Groups}
	if !validAt(now, row.Created, row.Expires) || !validAt(now, row.Used, row.Used.Add(s.o.Idle)) || !p.Role.Includes(ClustersOnly) ||
		!s.accepts(p.Method) {
		return Principal{}, false, ErrNobody
	}
	id, ours := strings.CutPrefix(row.Subject, "user:")
	if !ours {
		return p, row.Stale, nil
	}
	u, err := s.o.Store.User(ctx, id)
	if fault.Of(err) == fault.NotFound || err == nil && (u.Disabled || !Role(u.Role).Known()) {
		return Principal{}, false, ErrNobody
	}
	if err != nil {
		return Principal{}, false, err
	}
	p.Role = Role(u.Role)
	return p, row.Stale || u.Role != row.Role, nil
}

// accepts reports whether sessions made by a method are valid in the current mode. An OIDC session,
// for example, ends when OIDC is switched off.
func (s *Service) accepts(m Method) bool {
	switch m {
	case ByPassword:
		return s.o.Mode.Has(ModeLocal)
	case ByOIDC:
		return s.o.Mode.Has(ModeOIDC)
	}
	return m == ByBreakGlass
}

// Check repeats the decision of Identify for somebody who is signed in.
func (s *Service) Check(ctx context.Context, p Principal) error {
	now, err := s.current(ctx, p)
	if fault.Of(err) == fault.NotFound {
		err = ErrNobody
	}
	if err == nil && now.Role != p.Role {
		err = ErrNobody
	}
	if fault.Of(err) == fault.Forbidden {
		s.endSignals.end(endKey(p))
	}
	return err
}

// current returns p as it is now.
func (s *Service) current(ctx context.Context, p Principal) (Principal, error) {
	switch {
	case p.ID == "":
		return Principal{}, ErrNobody
	case p.Session != "":
		row, err := s.o.Store.Session(ctx, p.Session)
		if err != nil {
			return Principal{}, err
		}
		return s.sessionPrincipal(ctx, row)
	case p.Method == ByToken:
		t, err := s.o.Store.Token(ctx, strings.TrimPrefix(p.ID, "token:"))
		if err != nil {
			return Principal{}, err
		}
		return s.tokenPrincipal(ctx, t)
	}
	return p, nil // a proxy vouches for each connection and closes it itself; the modes none and demo have nothing that can end
}
