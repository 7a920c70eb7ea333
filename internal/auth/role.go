// Package auth authenticates users and decides what they may do. An identity always comes from a
// session, a token, a trusted proxy or the explicit choice of no sign-in; there is no default
// identity.
package auth

import "slices"

// Role is a set of rights. Each role includes those before it.
type Role string

// The roles, lowest first.
const (
	Viewer   Role = "viewer"   // browse
	Support  Role = "support"  // and locate documents by their keys
	Operator Role = "operator" // and make, run, stop and undo plans
	Admin    Role = "admin"    // and users, settings, approval policy
)

// ClustersOnly is the role on the server of whoever has roles on single clusters only. It includes no
// other role, and nobody can be given it.
const ClustersOnly Role = "none"

// Roles returns all roles, lowest first.
func Roles() []Role { return []Role{Viewer, Support, Operator, Admin} }

// Known reports whether r is one of the roles.
func (r Role) Known() bool { return slices.Contains(Roles(), r) }

// Includes reports whether r has all rights of other. An unknown role includes nothing and is
// included by nothing.
func (r Role) Includes(other Role) bool {
	if other == ClustersOnly {
		return r == other || r.Known()
	}
	have, want := slices.Index(Roles(), r), slices.Index(Roles(), other)
	return want >= 0 && have >= want
}

// Label is the role in a sentence.
func (r Role) Label() string {
	switch {
	case r == ClustersOnly:
		return "by cluster"
	case !r.Known():
		return "none"
	}
	return string(r)
}
