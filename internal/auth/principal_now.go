package auth

import (
	"context"
	"strings"

	"shardboard/internal/fault"
)

// PrincipalNow returns an account or a token as it is now, by the id of its principal. The error is
// ErrNobody when it does not exist any more, is disabled, expired or revoked. known is false for people of
// an issuer or a proxy: between their requests nothing here tells whether they still exist.
func (s *Service) PrincipalNow(ctx context.Context, id string) (p Principal, known bool, err error) {
	kind, name, _ := strings.Cut(id, ":")
	switch kind {
	case "token":
		t, err := s.o.Store.Token(ctx, name)
		if fault.Of(err) == fault.NotFound {
			return Principal{}, true, ErrNobody
		}
		if err != nil {
			return Principal{}, true, err
		}
		p, err := s.tokenPrincipal(ctx, t)
		return p, true, err
	case "user":
		u, err := s.o.Store.User(ctx, name)
		if fault.Of(err) == fault.NotFound || err == nil && (u.Disabled || !Role(u.Role).Known()) {
			return Principal{}, true, ErrNobody
		}
		if err != nil {
			return Principal{}, true, err
		}
		method := ByPassword
		if u.BreakGlass {
			method = ByBreakGlass
		}
		return Principal{ID: id, Name: u.Name, Role: Role(u.Role), Method: method}, true, nil
	}
	return Principal{}, false, nil
}

// PrincipalNow is the Service's, with the role on the cluster.
func (s OnCluster) PrincipalNow(ctx context.Context, id string) (p Principal, known bool, err error) {
	if p, known, err = s.Service.PrincipalNow(ctx, id); err != nil || !known {
		return p, known, err
	}
	p.ServerRole = p.Role
	p.Role, _ = s.roles().Of(s.name, p)
	return p, true, nil
}
