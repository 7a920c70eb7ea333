package audit

import (
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/store"
	"shardboard/web/site"
)

// scopeOf is what somebody may read of the record. On a server of several clusters, an entry about a
// cluster is for its operators. Admins of the server read everything, also of clusters that they may not
// see: they check the whole chain, and give others their passwords. They get no links there.
func scopeOf(s *site.Site, who auth.Principal) answer.AuditScope {
	if s.Deps.Clusters == nil {
		return answer.AuditScope{Withheld: func(store.AuditEntry) bool { return false }, Cluster: func(id string) (string, string, bool) {
			return "", "", id != "" && id == s.Deps.Watcher.Table().ClusterID
		}}
	}
	seen, operates, all := map[string]*site.Cluster{}, map[string]bool{}, true
	for _, c := range s.Deps.Clusters.All() {
		role, sees := c.Role(who)
		may, id := sees && role.Includes(auth.Operator), c.ID()
		all = all && may
		if id == "" {
			continue
		}
		if operates[id] = may; sees {
			seen[id] = c
		}
	}
	return answer.AuditScope{
		Withheld: func(e store.AuditEntry) bool {
			switch {
			case all || who.May(auth.Admin):
				return false
			case strings.HasPrefix(e.What, "configuration."): // it names clusters
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
	}
}
