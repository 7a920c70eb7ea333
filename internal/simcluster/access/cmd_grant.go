package access

import (
	"maps"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

func (c *Control) grantRolesToRole(r *engine.Request) (bson.D, error) {
	return c.changeRoleRoles(r, union)
}

func (c *Control) revokeRolesFromRole(r *engine.Request) (bson.D, error) {
	return c.changeRoleRoles(r, minus)
}

func (c *Control) changeRoleRoles(r *engine.Request, change func(have, named []Name) []Name) (bson.D, error) {
	named, err := someRoles(r)
	if err != nil {
		return nil, err
	}
	return c.changeRole(r, func(n Name, old *role) (*role, error) {
		if err := exists(n, old); err != nil {
			return nil, err
		}
		updated := *old
		updated.roles = change(old.roles, named)
		return &updated, c.fitting(n, &updated)
	})
}

func (c *Control) grantPrivileges(r *engine.Request) (bson.D, error) {
	return c.changePrivileges(r, func(have, named Privileges) { have.addAll(named) })
}

func (c *Control) revokePrivileges(r *engine.Request) (bson.D, error) {
	return c.changePrivileges(r, func(have, named Privileges) {
		for on, a := range named {
			if have[on] = have[on].without(a); have[on].empty() {
				delete(have, on)
			}
		}
	})
}

func (c *Control) changePrivileges(r *engine.Request, change func(have, named Privileges)) (bson.D, error) {
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
		change(updated.privileges, named)
		return &updated, c.fitting(n, &updated)
	})
}
