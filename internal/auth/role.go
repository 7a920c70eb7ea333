// Package auth says who is asking and what they may do. It promises that
// nobody is anybody without proof: an identity comes from a session, a token, a
// trusted proxy or the explicit choice to have none, never from a default.
package auth

import "slices"

// Role is what a person may do. Each role includes those before it.
type Role string

// The roles, least first.
const (
	Viewer   Role = "viewer"   // browse
	Support  Role = "support"  // and locate documents by their keys
	Operator Role = "operator" // and make, run, stop and undo plans
	Admin    Role = "admin"    // and users, settings, approval policy
)

// Roles are all roles, least first.
func Roles() []Role { return []Role{Viewer, Support, Operator, Admin} }

// Known tells whether it is a role at all.
func (r Role) Known() bool { return slices.Contains(Roles(), r) }

// Includes tells whether whoever has this role may do what other is needed
// for. An unknown role includes nothing and is included by nothing.
func (r Role) Includes(other Role) bool {
	have, want := slices.Index(Roles(), r), slices.Index(Roles(), other)
	return want >= 0 && have >= want
}
