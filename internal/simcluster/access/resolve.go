package access

import (
	"slices"

	"shardboard/internal/simcluster/engine/status"
)

// checkRoles fails when a role does not exist. The caller holds mu.
func (c *Control) checkRoles(roles []Name) error {
	for _, r := range roles {
		if _, ok := c.roles[r]; ok {
			continue
		}
		if _, ok := builtin(r, c.major); !ok {
			return status.Errorf(31, "Could not find role: %s", r)
		}
	}
	return nil
}

// resolve returns the privileges of roles and all inherited roles. The caller holds mu.
func (c *Control) resolve(direct []Name) (Privileges, []Name) {
	all, seen := Privileges{}, map[Name]bool{}
	var inherited []Name
	var visit func(Name)
	visit = func(n Name) {
		if seen[n] {
			return
		}
		seen[n] = true
		if p, ok := builtin(n, c.major); ok {
			all.addAll(p)
		} else if r, ok := c.roles[n]; ok {
			all.addAll(r.privileges)
			for _, more := range r.roles {
				visit(more)
			}
		} else {
			return // dropped
		}
		inherited = append(inherited, n)
	}
	for _, n := range direct {
		visit(n)
	}
	slices.SortFunc(inherited, compareNames)
	return all, inherited
}
