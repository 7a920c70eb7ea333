package auth

import (
	"context"
	"maps"
	"slices"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

// maxBound is how many clusters a token can be bound to; a server has no more.
const maxBound = 50

// mayGive checks the roles of a new token: on the server no greater than that of its creator, and on
// each cluster that it is bound to no greater than theirs there.
func (s *Service) mayGive(by Principal, n NewToken) error {
	if n.Clusters == nil {
		switch {
		case !n.Role.Known():
			return fault.New(fault.Invalid, "A role is viewer, support, operator or admin.")
		case by.Role == ClustersOnly:
			return fault.New(fault.Forbidden, "You have roles on single clusters only, so bind the token to some of them.")
		case !by.May(n.Role):
			return fault.New(fault.Forbidden, "A token cannot have a greater role than its creator, who is %s.", by.Role)
		}
		return nil
	}
	switch {
	case n.Role != "":
		return fault.New(fault.Invalid, "Give the token a role, or a role on each of its clusters, not both.")
	case len(n.Clusters) == 0 || len(n.Clusters) > maxBound:
		return fault.New(fault.Invalid, "A token is bound to 1 to %d clusters.", maxBound)
	case s.o.Clusters == nil && by.Method != ByConsole:
		return fault.New(fault.Invalid, "This server has one cluster, so a token cannot be bound to clusters. Leave them out.")
	}
	for _, name := range slices.Sorted(maps.Keys(n.Clusters)) {
		if err := s.mayBind(by, name, n.Clusters[name]); err != nil {
			return err
		}
	}
	return nil
}

// mayBind checks one cluster of a new token. The command line on the server's machine knows no
// configuration, so it may name any.
func (s *Service) mayBind(by Principal, name string, role Role) error {
	if !role.Known() {
		return fault.New(fault.Invalid, "The role on a cluster is viewer, support, operator or admin.")
	}
	shown := sanitize.Line(sanitize.Truncate(name, 60))
	if s.o.Clusters == nil {
		if name == "" || shown != name {
			return fault.New(fault.Invalid, "%q is not the name of a cluster.", shown)
		}
		return nil
	}
	clusters := s.clusters()
	i := slices.IndexFunc(clusters, func(c NamedRoles) bool { return c.Name == name })
	var yours Role
	if sees := i >= 0; sees {
		yours, sees = clusters[i].Roles.Of(name, by)
		if !sees {
			i = -1
		}
	}
	switch {
	case i < 0: // also for one that the creator may not see
		return fault.New(fault.Invalid, "There is no cluster %s.", shown)
	case !yours.Includes(role):
		return fault.New(fault.Forbidden, "A token cannot have a greater role on %s than you, who are %s there.", shown, yours)
	}
	return nil
}

// boundTo is what a token is bound to; nil if it is not.
func boundTo(t store.Token) map[string]Role {
	if t.Clusters == nil {
		return nil
	}
	out := make(map[string]Role, len(t.Clusters))
	for name, role := range t.Clusters {
		if Role(role).Known() {
			out[name] = Role(role)
		}
	}
	return out
}

// clustersOfToken is what a token may do on each cluster: on those that it is bound to, or on all that
// the reader may see. Those that are not configured any more come last.
func (s *Service) clustersOfToken(ctx context.Context, by Principal, t store.Token) (out []TokenCluster) {
	bound := boundTo(t)
	p, err := s.tokenPrincipal(ctx, t) // one that has ended has no role anywhere
	clusters := s.clusters()
	for _, c := range clusters {
		given, listed := bound[c.Name]
		if _, sees := c.Roles.Of(c.Name, by); !listed && (bound != nil || !sees) {
			continue
		}
		one := TokenCluster{Name: c.Name, Title: c.Title, Given: given, Role: ClustersOnly}
		if role, sees := c.Roles.Of(c.Name, p); err == nil && sees && role.Known() {
			one.Role = role
		}
		out = append(out, one)
	}
	for _, name := range slices.Sorted(maps.Keys(bound)) {
		if !slices.ContainsFunc(clusters, func(c NamedRoles) bool { return c.Name == name }) {
			one := TokenCluster{Name: name, Title: name, Given: bound[name], Role: ClustersOnly}
			if s.o.Clusters == nil && by.Method == ByConsole {
				one.Role = one.Given // which clusters there are is not known here
			}
			out = append(out, one)
		}
	}
	return out
}

// rolesText lists clusters with roles, for the audit record.
func rolesText(roles map[string]Role) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		parts = append(parts, name+"="+string(roles[name]))
	}
	return strings.Join(parts, ", ")
}

func textsOf(roles map[string]Role) map[string]string {
	out := make(map[string]string, len(roles))
	for name, role := range roles {
		out[name] = string(role)
	}
	return out
}

// BoundNames are the clusters that a token is bound to, in order; nil if it is not bound.
func (p Principal) BoundNames() []string {
	if p.Clusters == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(p.Clusters))
}
