package account

import (
	"slices"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/auth"
)

// roleOn is a role on a cluster as people read it.
func roleOn(role string) string {
	if !auth.Role(role).Known() {
		return "no access"
	}
	return auth.Role(role).Label()
}

// differs tells whether a token has another role on some cluster than on the server.
func differs(t api.Token) bool {
	return slices.ContainsFunc(t.Clusters, func(c api.TokenCluster) bool { return c.Role != t.Role })
}

// boundText lists the clusters that a token is bound to: "Production (operator), Staging (viewer)".
func boundText(t api.Token) string {
	parts := make([]string, len(t.Clusters))
	for i, c := range t.Clusters {
		parts[i] = c.Title + " (" + roleOn(c.Role) + ")"
	}
	return strings.Join(parts, ", ")
}
