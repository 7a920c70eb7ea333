package audit

import (
	"context"
	"slices"
	"strings"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/auth"
	"shardboard/internal/store"
	"shardboard/web/site"
)

// scopeOf is what somebody may read of the record. On a server of several clusters, an entry about a
// cluster is for its operators, and one about or by a token that is bound to clusters for those who see them all.
// Admins of the server read everything, also of clusters that they may not see: they check the whole chain, and give
// others their passwords. They get no links there.
func scopeOf(ctx context.Context, s *site.Site, who auth.Principal) (auditing.AuditScope, error) {
	if s.Deps.Place.Clusters == nil {
		return auditing.AuditScope{Withheld: func(store.AuditEntry) bool { return false }, Cluster: func(id string) (string, string, bool) {
			return "", "", id != "" && id == s.Deps.Cluster.Watcher.Table().ClusterID
		}}, nil
	}
	seen, operates, all := map[string]*site.Cluster{}, map[string]bool{}, true
	var names []string // of clusters that they may see
	for _, c := range s.Deps.Place.Clusters.All() {
		role, sees := c.Role(who)
		may, id := sees && role.Includes(auth.Operator), c.ID()
		all = all && may
		if sees {
			names = append(names, c.Name)
		}
		if id == "" {
			continue
		}
		if operates[id] = may; sees {
			seen[id] = c
		}
	}
	all = all || who.May(auth.Admin)
	hidden := map[string]bool{}
	if !all {
		bound, err := s.Deps.Audit.Trail.BoundTokens(ctx)
		if err != nil {
			return auditing.AuditScope{}, err
		}
		for id, clusters := range bound {
			hidden[id] = slices.ContainsFunc(clusters, func(name string) bool { return !slices.Contains(names, name) })
		}
	}
	return auditing.AuditScope{
		Hidden: hidden,
		Withheld: func(e store.AuditEntry) bool {
			switch {
			case all:
				return false
			case strings.HasPrefix(e.What, "configuration."), hidden[e.Subject], hidden[e.By]: // they name clusters
				return true
			}
			return e.Cluster != "" && !operates[e.Cluster]
		},
		Cluster: func(id string) (title, base string, ok bool) {
			c := seen[id]
			if c == nil || c.Site == nil {
				return "", "", false
			}
			return c.Title, c.Base(), true
		},
	}, nil
}
