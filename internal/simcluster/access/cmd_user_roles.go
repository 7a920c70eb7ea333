package access

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

func (c *Control) grantRolesToUser(r *engine.Request) (bson.D, error) {
	return c.changeUserRoles(r, union)
}

func (c *Control) revokeRolesFromUser(r *engine.Request) (bson.D, error) {
	return c.changeUserRoles(r, minus)
}

func (c *Control) changeUserRoles(r *engine.Request, change func(have, named []Name) []Name) (bson.D, error) {
	user, err := subject(r)
	if err != nil {
		return nil, err
	}
	named, err := someRoles(r)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.accounts[user]
	if old == nil {
		return nil, status.Errorf(userNotFound, "Could not find user \"%s\" for db \"%s\"", user.Name, user.DB)
	}
	if err := c.checkRoles(named); err != nil {
		return nil, err
	}
	updated := *old
	updated.roles = change(old.roles, named)
	c.accounts[user] = &updated
	c.change++
	return bson.D{}, nil
}

// someRoles reads the roles of a command that requires at least one.
func someRoles(r *engine.Request) ([]Name, error) {
	named, err := parseRoles(r, "roles")
	if err == nil && len(named) == 0 {
		err = status.Errorf(status.BadValue, "%s command requires a non-empty \"roles\" array", r.Name)
	}
	return named, err
}

func union(have, named []Name) []Name {
	out := slices.Clone(have)
	for _, n := range named {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func minus(have, named []Name) []Name {
	return slices.DeleteFunc(slices.Clone(have), func(n Name) bool { return slices.Contains(named, n) })
}
