package access

import (
	"maps"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

const (
	roleNotFound            = 31
	invalidRoleModification = 49
	roleAlreadyExists       = 51002
)

func (c *Control) createRole(r *engine.Request) (bson.D, error) {
	for _, key := range []string{"privileges", "roles"} {
		if !given(r, key) {
			return nil, status.Errorf(40414, "BSON field 'createRole.%s' is missing but a required field", key)
		}
	}
	return c.changeRole(r, func(n Name, old *role) (*role, error) {
		if old != nil {
			return nil, status.Errorf(roleAlreadyExists, "Role \"%s\" already exists", n)
		}
		return c.described(r, n, &role{privileges: Privileges{}})
	})
}

func (c *Control) updateRole(r *engine.Request) (bson.D, error) {
	if !given(r, "privileges") && !given(r, "roles") {
		return nil, status.Errorf(status.BadValue, "Must specify at least one field to update in updateRole")
	}
	return c.changeRole(r, func(n Name, old *role) (*role, error) {
		if err := exists(n, old); err != nil {
			return nil, err
		}
		return c.described(r, n, old)
	})
}

// described is the old role with the privileges and roles given in a command.
func (c *Control) described(r *engine.Request, n Name, old *role) (*role, error) {
	if err := unrestricted(r); err != nil {
		return nil, err
	}
	out := *old
	if given(r, "privileges") {
		p, err := parsePrivileges(r.Lookup("privileges"))
		if err != nil {
			return nil, err
		}
		out.privileges = p
	}
	if given(r, "roles") {
		roles, err := parseRoles(r, "roles")
		if err != nil {
			return nil, err
		}
		out.roles = roles
	}
	return &out, c.fitting(n, &out)
}

// fitting checks that a role outside of admin refers only to its own database, that its
// roles exist, and that it does not contain itself.
func (c *Control) fitting(n Name, ro *role) error {
	if n.DB != "admin" {
		for on := range ro.privileges {
			if on.db != n.DB {
				return status.Errorf(invalidRoleModification,
					"Roles on the '%s' database cannot be granted privileges that target other databases or the cluster", n.DB)
			}
		}
		for _, more := range ro.roles {
			if more.DB != n.DB {
				return status.Errorf(invalidRoleModification, "Roles on the '%s' database cannot be granted roles from other databases", n.DB)
			}
		}
	}
	if err := c.checkRoles(ro.roles); err != nil {
		return err
	}
	_, inherited := c.resolve(ro.roles)
	for _, more := range append(inherited, ro.roles...) {
		if more == n {
			return status.Errorf(invalidRoleModification, "Granting roles to %s would introduce a cycle in the role graph", n)
		}
	}
	return nil
}

// changeRole replaces a role by the result of change.
func (c *Control) changeRole(r *engine.Request, change func(n Name, old *role) (*role, error)) (bson.D, error) {
	n, err := subject(r)
	if err != nil {
		return nil, err
	}
	if _, is := builtin(n, c.major); is {
		if r.Name == "createRole" {
			return nil, status.Errorf(status.BadValue, "Cannot create roles with the same name as a built-in role")
		}
		return nil, status.Errorf(invalidRoleModification, "%s is a built-in role and cannot be modified.", n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	updated, err := change(n, c.roles[n])
	if err != nil {
		return nil, err
	}
	c.roles[n] = updated
	c.change++
	return bson.D{}, nil
}

func exists(n Name, old *role) error {
	if old == nil {
		return status.Errorf(roleNotFound, "Could not find role: %s", n)
	}
	return nil
}

func (c *Control) grantPrivileges(r *engine.Request) (bson.D, error) {
	named, err := parsePrivileges(r.Lookup("privileges"))
	if err != nil {
		return nil, err
	}
	if len(named) == 0 {
		return nil, status.Errorf(status.BadValue, "%s command requires a non-empty \"privileges\" array", r.Name)
	}
	return c.changeRole(r, func(n Name, old *role) (*role, error) {
		if err := exists(n, old); err != nil {
			return nil, err
		}
		updated := *old
		updated.privileges = maps.Clone(old.privileges)
		updated.privileges.addAll(named)
		return &updated, c.fitting(n, &updated)
	})
}
