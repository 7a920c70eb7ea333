package auth

import (
	"context"
	"net/http"
	"strings"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const touchEvery = time.Minute

// Identify says who sent a request. A proof that is there and wrong is not made
// good by another one after it. The answer w gets a cookie when the session is
// another one from now on.
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
	if values := r.Header.Values("Authorization"); len(values) > 0 && !s.proxysOwn(values) {
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

// proxysOwn is a header that was meant for the proxy, which passed it on: some
// ask for a password themselves. It proves nothing here.
func (s *Service) proxysOwn(values []string) bool {
	scheme, _, _ := strings.Cut(values[0], " ")
	return s.o.Mode.Has(ModeProxy) && !strings.EqualFold(scheme, "Bearer")
}

func (s *Service) byToken(ctx context.Context, values []string, from string) (Principal, error) {
	scheme, secret, _ := strings.Cut(values[0], " ")
	if len(values) != 1 || !strings.EqualFold(scheme, "Bearer") || !tokenShaped(secret) {
		return s.wrongToken(ctx, from)
	}
	t, err := s.o.Store.TokenByHash(ctx, digest(secret))
	if fault.Of(err) == fault.NotFound {
		return s.wrongToken(ctx, from)
	}
	if err != nil {
		return Principal{}, err
	}
	p, err := s.tokenPrincipal(ctx, t)
	if err != nil {
		return Principal{}, err
	}
	if now := s.o.Now(); now.Sub(t.Used).Abs() >= touchEvery && s.o.Store.Owner() {
		s.noted(s.o.Store.TouchToken(ctx, t.ID, now))
	}
	p.From = from
	return p, nil
}

func (s *Service) wrongToken(ctx context.Context, from string) (Principal, error) {
	wait, first := s.limits.wrong(wrongToken, from)
	if wait > 0 {
		if first {
			s.refused(ctx, Principal{Method: ByToken, From: from}, auditLimited, "", "wrong tokens")
		}
		return Principal{}, &TooMany{Wait: wait}
	}
	s.refused(ctx, Principal{Method: ByToken, From: from}, auditRefused, "", "no such token")
	return Principal{}, ErrNobody
}

// tokenPrincipal is who a token stands for: never more than its owner may now.
func (s *Service) tokenPrincipal(ctx context.Context, t store.Token) (Principal, error) {
	role := Role(t.Role)
	if !t.Revoked.IsZero() || !s.o.Now().Before(t.Expires) || !role.Known() {
		return Principal{}, ErrNobody
	}
	if id, ok := strings.CutPrefix(t.Owner, "user:"); ok {
		u, err := s.o.Store.User(ctx, id)
		if fault.Of(err) == fault.NotFound || err == nil && u.Disabled {
			return Principal{}, ErrNobody
		}
		if err != nil {
			return Principal{}, err
		}
		if !Role(u.Role).Includes(role) {
			role = Role(u.Role)
		}
	}
	return Principal{ID: "token:" + t.ID, Name: t.Name, Role: role, Method: ByToken}, nil
}

func (s *Service) bySession(ctx context.Context, w http.ResponseWriter, secret, from string) (Principal, error) {
	row, err := s.o.Store.SessionByHash(ctx, digest(secret))
	if fault.Of(err) == fault.NotFound {
		return s.byFormer(ctx, secret, from)
	}
	if err != nil {
		return Principal{}, err
	}
	p, stale, err := s.standing(ctx, row)
	if err != nil {
		return Principal{}, err
	}
	p.From = from
	if stale {
		return s.rotate(ctx, w, secret, row, p)
	}
	if now := s.o.Now(); now.Sub(row.Used) >= s.noteUse() && s.o.Store.Owner() {
		s.noted(s.o.Store.TouchSession(ctx, row.ID, now))
	}
	return p, nil
}

// noteUse is how often a session's use is noted: often enough for the shortest
// time without use that is let pass.
func (s *Service) noteUse() time.Duration { return min(touchEvery, s.o.Idle/4) }

// noted is for a use that could not be noted: with a full disk one can still
// look, until the session ends for want of use.
func (s *Service) noted(err error) {
	if err != nil {
		s.o.Log.Warn("note the use of a session or token", "err", err)
	}
}

// sessionPrincipal is who a session stands for, while it lasts and may be used
// as it is.
func (s *Service) sessionPrincipal(ctx context.Context, row store.Session) (Principal, error) {
	p, stale, err := s.standing(ctx, row)
	if stale {
		return Principal{}, ErrNobody
	}
	return p, err
}

// standing is who a session stands for, while it lasts. An account of ours is
// asked again each time and has its present role; who came from outside has the
// role of then. stale tells that the role changed since the session was made:
// then there has to be another one before it may do anything.
func (s *Service) standing(ctx context.Context, row store.Session) (p Principal, stale bool, err error) {
	now := s.o.Now()
	p = Principal{ID: row.Subject, Name: row.Name, Role: Role(row.Role), Method: Method(row.Method), Session: row.ID, From: row.From}
	if !between(now, row.Created, row.Expires) || !between(now, row.Used, row.Used.Add(s.o.Idle)) || !p.Role.Known() || !s.accepts(p.Method) {
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

// accepts tells whether a session made by a method is good under the present
// mode: one of OIDC is not, once OIDC is taken away.
func (s *Service) accepts(m Method) bool {
	switch m {
	case ByPassword:
		return s.o.Mode.Has(ModeLocal)
	case ByOIDC:
		return s.o.Mode.Has(ModeOIDC)
	}
	return m == ByBreakGlass
}

// Check is Identify's judgement once more, for who is in already.
func (s *Service) Check(ctx context.Context, p Principal) error {
	now, err := s.present(ctx, p)
	if fault.Of(err) == fault.NotFound {
		err = ErrNobody
	}
	if err == nil && now.Role != p.Role {
		err = ErrNobody
	}
	if err != nil && fault.Of(err) == fault.Forbidden {
		s.ended.end(endKey(p))
	}
	return err
}

// present is who p is now.
func (s *Service) present(ctx context.Context, p Principal) (Principal, error) {
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
	return p, nil // a proxy vouches for each connection, which whoever keeps it open ends; none and demo have nothing that could end
}
