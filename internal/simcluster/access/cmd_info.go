package access

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// usersInfo shows users: of a database (1), of all ({forAllDBs: true}), or by name.
// Credentials are shown only on request, as stored.
func (c *Control) usersInfo(r *engine.Request) (bson.D, error) {
	v := r.Lookup(r.Name)
	c.mu.RLock()
	defer c.mu.RUnlock()
	var names []Name
	switch {
	case v.Type == bson.TypeEmbeddedDocument && truthy(value.Field(v.Value, "forAllDBs")):
		names = slices.SortedFunc(maps.Keys(c.accounts), compareNames)
	case value.IsNumber(v):
		for n := range c.accounts {
			if n.DB == r.DB {
				names = append(names, n)
			}
		}
		slices.SortFunc(names, compareNames)
	default:
		var err error
		if names, err = parseNames(v, "user", r.DB); err != nil {
			return nil, err
		}
	}
	users := bson.A{}
	for _, n := range names {
		if a := c.accounts[n]; a != nil {
			users = append(users, c.userDocument(n, a, r))
		}
	}
	return value.D("users", users), nil
}

func (c *Control) userDocument(n Name, a *account, r *engine.Request) bson.D {
	mechanisms := slices.Sorted(maps.Keys(a.credentials))
	if n.DB == externalDB {
		mechanisms = []string{"external"}
	}
	p, inherited := c.resolve(a.roles)
	custom := a.custom != nil && (!given(r, "showCustomData") || truthy(r.Lookup("showCustomData")))
	return value.D("_id", n.id(), "userId", value.UUID(a.id), "user", n.Name, "db", n.DB,
		value.When(truthy(r.Lookup("showCredentials")), "credentials", a.credentialDocument(n)),
		value.When(custom, "customData", a.custom), "roles", rolesArray(a.roles),
		value.When(truthy(r.Lookup("showPrivileges")), "inheritedRoles", rolesArray(inherited),
			"inheritedPrivileges", p.list(), "inheritedAuthenticationRestrictions", bson.A{},
			"authenticationRestrictions", bson.A{}),
		"mechanisms", mechanisms)
}

// rolesInfo shows roles: the user-defined ones of a database (1), on request with the
// built-in ones, or by name.
func (c *Control) rolesInfo(r *engine.Request) (bson.D, error) {
	v := r.Lookup(r.Name)
	c.mu.RLock()
	defer c.mu.RUnlock()
	var names []Name
	if value.IsNumber(v) {
		for n := range c.roles {
			if n.DB == r.DB {
				names = append(names, n)
			}
		}
		if truthy(r.Lookup("showBuiltinRoles")) {
			names = append(names, c.builtinNames(r.DB)...)
		}
		slices.SortFunc(names, compareNames)
	} else {
		var err error
		if names, err = parseNames(v, "role", r.DB); err != nil {
			return nil, err
		}
	}
	roles := bson.A{}
	for _, n := range names {
		if doc := c.roleDocument(n, truthy(r.Lookup("showPrivileges"))); doc != nil {
			roles = append(roles, doc)
		}
	}
	return value.D("roles", roles), nil
}

// roleDocument describes a role, nil when there is none.
func (c *Control) roleDocument(n Name, privileges bool) bson.D {
	p, is := builtin(n, c.major)
	var direct []Name
	if !is {
		made := c.roles[n]
		if made == nil {
			return nil
		}
		p, direct = made.privileges, made.roles
	}
	all, inherited := c.resolve(direct)
	all.addAll(p)
	return value.D("_id", n.id(), "role", n.Name, "db", n.DB, value.When(privileges, "privileges", p.list()),
		"roles", rolesArray(direct), "isBuiltin", is, "inheritedRoles", rolesArray(inherited),
		value.When(privileges, "inheritedPrivileges", all.list()))
}

// builtinNames are the built-in roles that exist on a database.
func (c *Control) builtinNames(db string) []Name {
	var out []Name
	for _, b := range builtinRoles {
		if !b.adminOnly || db == "admin" {
			out = append(out, Name{b.name, db})
		}
	}
	return out
}

func (a *account) credentialDocument(user Name) bson.D {
	if user.DB == externalDB {
		return value.D("external", true)
	}
	kept := bson.D{}
	for _, name := range slices.Sorted(maps.Keys(a.credentials)) {
		kept = append(kept, bson.E{Key: name, Value: credentialDocument(a.credentials[name])})
	}
	return kept
}
