package auth

import (
	"maps"
	"slices"
	"strings"
)

// ClusterRoles say who has which role on one cluster of several, where it is not the role that they
// have on the server. Its keys say who: "everyone", "role:" with a role on the server, "user:" with the
// name of an account, "group:" with a group at the issuer, "token:" with a token's id, or the id of a
// principal as the audit record has it ("proxy:…", "oidc:…"). Its values are roles, "same" and "none". The
// most exact key counts: a person or token before their groups, of which the greatest role counts, those
// before their role, and that before everyone. The zero ClusterRoles leaves all roles as they are.
type ClusterRoles map[string]string

// Values of ClusterRoles besides the roles.
const (
	SameRole = "same" // as on the server
	NoRole   = "none" // may not see that there is such a cluster
)

// Kinds of keys that other code makes or looks for.
const (
	everyone  = "everyone"
	groupKind = "group"
)

// NamedRoles is one cluster of a server of several.
type NamedRoles struct {
	Name, Title string
	Roles       ClusterRoles
}

// CheckClusterRole says what is wrong with an entry of ClusterRoles; "" if nothing is.
func CheckClusterRole(who, role string) string {
	kind, name, named := strings.Cut(who, ":")
	switch {
	case who == everyone:
	case !named || name == "":
		return `write who it is: everyone, role:ROLE, group:NAME, user:NAME, token:ID, or an id of the audit record such as proxy:NAME`
	case kind == "role" && !Role(name).Known():
		return "the role " + name + " does not exist; there are " + roleNames()
	case !slices.Contains([]string{"role", groupKind, "user", "token", "proxy", "oidc"}, kind):
		return `write everyone, role:ROLE, group:NAME, user:NAME, token:ID, proxy:NAME or oidc:… instead of ` + kind + ":"
	}
	if role != SameRole && role != NoRole && !Role(role).Known() {
		return "the role " + role + " does not exist; write " + roleNames() + ", same or none"
	}
	return ""
}

// IsGroup reports whether a key of ClusterRoles is a group at the issuer.
func IsGroup(who string) bool { return strings.HasPrefix(who, groupKind+":") }

func roleNames() string {
	var names []string
	for _, r := range Roles() {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// Of is the role of a principal on the cluster of this name, who comes with their role on the server; false
// if they may not see the cluster. The break-glass account and everybody while sign-in is off keep their
// role: they are for when nobody else can get in, and are nobody in particular.
func (c ClusterRoles) Of(cluster string, p Principal) (Role, bool) {
	if p.ID == "" {
		return "", true // anonymous, and told nothing
	}
	switch p.Method {
	case ByBreakGlass, ByNone, ByDemo:
		return p.Role, true
	case ByToken:
		return c.ofToken(cluster, p)
	}
	return c.of(p.ID, p.Name, p.Role, p.Groups)
}

// ofToken: a token has no greater role than its own, nor than that of its owner on the cluster.
func (c ClusterRoles) ofToken(cluster string, p Principal) (Role, bool) {
	most := p.Role
	if p.Clusters != nil {
		bound, listed := p.Clusters[cluster]
		if !listed {
			return "", false
		}
		most = bound
	}
	owner, sees := c.of(p.Owner, p.OwnerName, p.OwnerRole, p.Groups)
	to, named := c[p.ID]
	switch {
	case named && p.Clusters == nil:
		return grant(to, most)
	case named:
		owner, sees = grant(to, most)
	case p.Clusters != nil && p.Owner == Console().ID: // of nobody whom roles could speak about
		return most, true
	}
	if sees && owner.Includes(most) {
		return most, true
	}
	return owner, sees
}

func (c ClusterRoles) of(id, name string, role Role, groups []string) (Role, bool) {
	who := id
	if strings.HasPrefix(id, "user:") {
		who = "user:" + name // people know names of accounts, which are unique, and not their ids
	}
	if to, ok := c[who]; ok {
		return grant(to, role)
	}
	if to, sees, ok := c.ofGroups(role, groups); ok {
		return to, sees
	}
	for _, key := range []string{"role:" + string(role), everyone} {
		if to, ok := c[key]; ok {
			return grant(to, role)
		}
	}
	return grant(SameRole, role)
}

// ofGroups is the greatest role that one of the groups has; ok is false if none is named.
func (c ClusterRoles) ofGroups(role Role, groups []string) (greatest Role, sees, ok bool) {
	for _, group := range groups {
		to, named := c[groupKind+":"+group]
		if !named {
			continue
		}
		ok = true
		if one, may := grant(to, role); may && (!sees || one.Includes(greatest)) {
			greatest, sees = one, true
		}
	}
	return greatest, sees, ok
}

// admits reports whether somebody at the issuer has a role here by name or by a group, so that they may
// sign in without a role on the server. An entry for everyone does not do: that would be everybody at
// the issuer.
func (c ClusterRoles) admits(p Principal) bool {
	if to, ok := c[p.ID]; ok {
		return Role(to).Known()
	}
	_, sees, _ := c.ofGroups(p.Role, p.Groups)
	return sees
}

func grant(to string, role Role) (Role, bool) {
	switch to {
	case SameRole:
		return role, role.Known() // who has roles on single clusters only has none here
	case NoRole:
		return "", false
	}
	return Role(to), true
}

// Equal reports whether two clusters give the same roles.
func (c ClusterRoles) Equal(other ClusterRoles) bool { return maps.Equal(c, other) }
