package auth

import (
	"context"
	"net/http"
)

// OnCluster is the Service as one cluster of several sees it: everybody has their role on that
// cluster. Sessions, tokens and accounts are those of the Service.
type OnCluster struct {
	*Service
	name  string
	roles func() ClusterRoles // as they are now: a new configuration may change them
}

// OnCluster makes the Service of the cluster of a name.
func (s *Service) OnCluster(name string, roles func() ClusterRoles) OnCluster {
	return OnCluster{s, name, roles}
}

// Identify is the Service's, with the role on the cluster. Somebody who may not see the cluster has
// none; Sees tells.
func (s OnCluster) Identify(w http.ResponseWriter, r *http.Request) (Principal, error) {
	p, err := s.Service.Identify(w, r)
	if err != nil {
		return p, err
	}
	p.ServerRole = p.Role
	p.Role, _ = s.roles().Of(s.name, p)
	return p, nil
}

// Sees tells whether a principal of Identify may see the cluster.
func (s OnCluster) Sees(p Principal) bool { return p.ID == "" || p.Role.Known() }

// Check is the Service's, and ends what was begun with another role on the cluster.
func (s OnCluster) Check(ctx context.Context, p Principal) error {
	onServer := p
	onServer.Role = p.ServerRole
	if err := s.Service.Check(ctx, onServer); err != nil {
		return err
	}
	if now, sees := s.roles().Of(s.name, onServer); !sees || now != p.Role {
		return ErrNobody
	}
	return nil
}
