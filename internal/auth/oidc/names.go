package oidc

import (
	"fmt"
	"maps"
	"slices"

	"shardboard/internal/sanitize"
)

const (
	maxNames  = 40
	maxNamed  = 80 // bytes of one name with its path
	nameDepth = 3  // deep enough for resource_access.CLIENT.roles
)

// claimNames returns the sorted names of claims, nested ones as paths, without any value. They are
// untrusted text, so they are bounded and made printable.
func claimNames(claims map[string]any) []string {
	var all []string
	collect(&all, "", claims, nameDepth)
	slices.Sort(all)
	if more := len(all) - maxNames; more > 0 {
		all = append(all[:maxNames:maxNames], fmt.Sprintf("(%d more)", more))
	}
	return all
}

func collect(all *[]string, path string, claims map[string]any, depth int) {
	for _, name := range slices.Sorted(maps.Keys(claims)) {
		if inner, ok := claims[name].(map[string]any); ok && len(inner) > 0 && depth > 1 {
			collect(all, path+name+".", inner, depth-1)
			continue
		}
		*all = append(*all, sanitize.Shorten(sanitize.Line(path+name), maxNamed))
	}
}
