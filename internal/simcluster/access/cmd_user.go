package access

import (
	"maps"
	"slices"
	"strings"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

const (
	userNotFound      = 11
	userAlreadyExists = 51003
)

func (c *Control) createUser(r *engine.Request) (bson.D, error) {
	user, err := subject(r)
	if err != nil {
		return nil, err
	}
	if !given(r, "pwd") && user.DB != externalDB {
		return nil, status.Errorf(status.BadValue,
			"Must provide a 'pwd' field for all user documents, except those with '$external' as the user's source db")
	}
	if !given(r, "roles") {
		return nil, status.Errorf(40414, "BSON field 'createUser.roles' is missing but a required field")
	}
	return c.store(user, r, func(old *account) (account, error) {
		if old != nil {
			return account{}, status.Errorf(userAlreadyExists, "User \"%s\" already exists", user)
		}
		return account{id: newID()}, nil
	})
}

func (c *Control) updateUser(r *engine.Request) (bson.D, error) {
	user, err := subject(r)
	if err != nil {
		return nil, err
	}
	if !given(r, "pwd") && !given(r, "roles") && !given(r, "customData") && !given(r, "mechanisms") {
		return nil, status.Errorf(status.BadValue, "Must specify at least one field to update in updateUser")
	}
	return c.store(user, r, func(old *account) (account, error) {
		if old == nil {
			return account{}, status.Errorf(userNotFound, "User %s not found", user)
		}
		return *old, nil
	})
}

// replace replaces a user or role by the result of change, nil for none.
func replace[T any](c *Control, all map[Name]*T, n Name, change func(old *T) (*T, error)) (bson.D, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	updated, err := change(all[n])
	if err != nil {
		return nil, err
	}
	if all[n] = updated; updated == nil {
		delete(all, n)
	}
	c.change++
	return bson.D{}, nil
}

// store applies a command's fields to what begin makes of the existing user, nil for none.
// Passwords are hashed before locking, because that is slow.
func (c *Control) store(user Name, r *engine.Request, begin func(old *account) (account, error)) (bson.D, error) {
	roles, err := parseRoles(r)
	if err != nil {
		return nil, err
	}
	if err := unrestricted(r); err != nil {
		return nil, err
	}
	if user.DB == externalDB && given(r, "pwd") {
		return nil, status.Errorf(status.BadValue, "Cannot set the password for users defined on the '%s' database", externalDB)
	}
	with, err := chosen(r)
	if err != nil {
		return nil, err
	}
	fresh := account{}
	if given(r, "pwd") {
		password, ok := r.Lookup("pwd").StringValueOK()
		if !ok || password == "" {
			return nil, status.Errorf(status.BadValue, "Password cannot be empty")
		}
		if err := fresh.setPassword(user.Name, password, with); err != nil {
			return nil, err
		}
	}
	return replace(c, c.accounts, user, func(old *account) (*account, error) {
		a, err := begin(old)
		if err == nil {
			err = c.checkRoles(roles)
		}
		if err != nil {
			return nil, err
		}
		switch {
		case fresh.credentials != nil:
			a.credentials = fresh.credentials
		case given(r, "mechanisms"):
			kept := make(map[string]scram.StoredCredentials)
			for _, m := range with {
				cred, ok := a.credentials[m.name]
				if !ok {
					return nil, status.Errorf(status.BadValue, "mechanisms field must be a subset of previously set mechanisms")
				}
				kept[m.name] = cred
			}
			a.credentials = kept
		}
		if given(r, "roles") {
			a.roles = roles
		}
		if doc, ok := r.Lookup("customData").DocumentOK(); ok {
			a.custom = slices.Clone(doc)
		}
		return &a, nil
	})
}

// chosen returns the requested mechanisms, all by default. A password hashed by the
// client can be used for SHA-1 only.
func chosen(r *engine.Request) ([]mechanism, error) {
	v := r.Lookup("mechanisms")
	hashed := given(r, "digestPassword") && !truthy(r.Lookup("digestPassword"))
	if v.Type == 0 && !hashed {
		return mechanisms(), nil
	}
	var out []mechanism
	for item := range value.Items(v) {
		name, _ := item.StringValueOK()
		m, ok := mechanismOf(name)
		if !ok {
			return nil, status.Errorf(status.BadValue, "Unknown auth mechanism '%s'", name)
		}
		if m.digested = m.digested && !hashed; hashed && m.name != "SCRAM-SHA-1" {
			return nil, status.Errorf(status.BadValue, "Use of SCRAM-SHA-256 requires undigested passwords")
		}
		out = append(out, m)
	}
	if hashed && v.Type == 0 {
		return nil, status.Errorf(status.BadValue, "Use of SCRAM-SHA-256 requires undigested passwords")
	}
	if len(out) == 0 {
		return nil, status.Errorf(status.BadValue, "mechanisms field must not be empty")
	}
	return out, nil
}

func (c *Control) dropUser(r *engine.Request) (bson.D, error) {
	user, err := subject(r)
	if err != nil {
		return nil, err
	}
	return replace(c, c.accounts, user, func(old *account) (*account, error) {
		if old == nil {
			return nil, status.Errorf(userNotFound, "User '%s' not found", user)
		}
		return nil, nil
	})
}

// unrestricted rejects authenticationRestrictions, which are not supported.
func unrestricted(r *engine.Request) error {
	if v := r.Lookup("authenticationRestrictions"); v.Type == bson.TypeArray && value.Len(v.Value) > 0 {
		return status.Errorf(status.CommandNotSupported, "this simulated cluster does not restrict from where a user signs in")
	}
	return nil
}

func (c *Control) grantRolesToUser(r *engine.Request) (bson.D, error) {
	user, err := subject(r)
	if err != nil {
		return nil, err
	}
	named, err := parseRoles(r)
	if err == nil && len(named) == 0 {
		err = status.Errorf(status.BadValue, "%s command requires a non-empty \"roles\" array", r.Name)
	}
	if err != nil {
		return nil, err
	}
	return replace(c, c.accounts, user, func(old *account) (*account, error) {
		if old == nil {
			return nil, status.Errorf(userNotFound, "Could not find user \"%s\" for db \"%s\"", user.Name, user.DB)
		}
		updated := *old
		updated.roles = slices.Clone(old.roles)
		for _, n := range named {
			if !slices.Contains(updated.roles, n) {
				updated.roles = append(updated.roles, n)
			}
		}
		return &updated, c.checkRoles(named)
	})
}

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
	return c.changeRole(r, false, func(n Name, _ *role) (*role, error) {
		return c.described(r, n, &role{privileges: Privileges{}})
	})
}

func (c *Control) updateRole(r *engine.Request) (bson.D, error) {
	if !given(r, "privileges") && !given(r, "roles") {
		return nil, status.Errorf(status.BadValue, "Must specify at least one field to update in updateRole")
	}
	return c.changeRole(r, true, func(n Name, old *role) (*role, error) { return c.described(r, n, old) })
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
		roles, err := parseRoles(r)
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
	if slices.Contains(append(inherited, ro.roles...), n) {
		return status.Errorf(invalidRoleModification, "Granting roles to %s would introduce a cycle in the role graph", n)
	}
	return nil
}

// changeRole replaces a role, which must exist or must not, by the result of change.
func (c *Control) changeRole(r *engine.Request, exists bool, change func(n Name, old *role) (*role, error)) (bson.D, error) {
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
	return replace(c, c.roles, n, func(old *role) (*role, error) {
		switch {
		case old == nil && exists:
			return nil, status.Errorf(roleNotFound, "Could not find role: %s", n)
		case old != nil && !exists:
			return nil, status.Errorf(roleAlreadyExists, "Role \"%s\" already exists", n)
		}
		return change(n, old)
	})
}

func (c *Control) grantPrivileges(r *engine.Request) (bson.D, error) {
	named, err := parsePrivileges(r.Lookup("privileges"))
	if err != nil {
		return nil, err
	}
	if len(named) == 0 {
		return nil, status.Errorf(status.BadValue, "%s command requires a non-empty \"privileges\" array", r.Name)
	}
	return c.changeRole(r, true, func(n Name, old *role) (*role, error) {
		updated := *old
		updated.privileges = maps.Clone(old.privileges)
		updated.privileges.addAll(named)
		return &updated, c.fitting(n, &updated)
	})
}

// parseName reads a name: "x" on the command's database, or {<what>: "x", db: "y"}.
func parseName(v bson.RawValue, what, db string) (Name, error) {
	if s, ok := v.StringValueOK(); ok {
		return Name{s, db}, nil
	}
	if doc, ok := v.DocumentOK(); ok {
		name, hasName := value.Field(doc, what).StringValueOK()
		in, hasDB := value.Field(doc, "db").StringValueOK()
		if hasName && hasDB {
			return Name{name, in}, nil
		}
		return Name{}, status.Errorf(status.BadValue, "%s names must have string fields '%s' and 'db'", what, what)
	}
	return Name{}, status.Errorf(status.BadValue, "%s names must be either strings or objects", what)
}

// parseNames reads one name or an array of them, without repetitions.
func parseNames(v bson.RawValue, what, db string) ([]Name, error) {
	if v.Type != bson.TypeArray {
		n, err := parseName(v, what, db)
		return []Name{n}, err
	}
	var out []Name
	for item := range value.Items(v) {
		n, err := parseName(item, what, db)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out, nil
}

// parseRoles reads an array of roles; none when it is absent.
func parseRoles(r *engine.Request) ([]Name, error) {
	v := r.Lookup("roles")
	switch v.Type {
	case 0:
		return nil, nil
	case bson.TypeArray:
		return parseNames(v, "role", r.DB)
	}
	return nil, wrongType(r.Name+".roles", "array")
}

func wrongType(field, want string) error {
	return status.Errorf(status.TypeMismatch, "BSON field '%s' is the wrong type, expected type '%s'", field, want)
}

// subject is the user or role that a command's first field names.
func subject(r *engine.Request) (Name, error) {
	s, ok := r.Lookup(r.Name).StringValueOK()
	switch {
	case !ok:
		return Name{}, wrongType(r.Name+"."+r.Name, "string")
	case s == "":
		return Name{}, status.Errorf(status.BadValue, "the name must not be empty")
	case r.DB == "local" || r.DB == externalDB && strings.HasSuffix(r.Name, "Role"):
		return Name{}, status.Errorf(status.BadValue, "Cannot create users or roles in the %s database", r.DB)
	}
	return Name{s, r.DB}, nil
}

// given reports whether a command has a field.
func given(r *engine.Request, key string) bool { return r.Lookup(key).Type != 0 }

func rolesArray(names []Name) bson.A {
	out := bson.A{}
	for _, n := range names {
		out = append(out, n.role())
	}
	return out
}
