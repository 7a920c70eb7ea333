package guard

import (
	"shardboard/internal/auth"
)

// Policy says who may use a route or a live topic. The zero Policy is none at
// all: a route or topic that has it stops the program at its start and fails
// the tests, so nothing is open because somebody forgot it.
type Policy string

const (
	PolicyOpen    Policy = "open"    // needs no identity: health, static files, sign-in itself
	PolicyNear    Policy = "near"    // open while only this machine can connect, else as read
	PolicySelf    Policy = "self"    // anybody who is signed in, about themselves
	PolicyRead    Policy = "read"    // may see the cluster
	PolicyLocate  Policy = "locate"  // may ask by document keys, which are other people's data
	PolicyOperate Policy = "operate" // may start and stop what costs or changes the cluster
	PolicyAdmin   Policy = "admin"   // may change who may what
)

// Needs is the role that a policy asks for, "" for none; known is false for a
// policy that is not one.
func (p Policy) Needs() (role auth.Role, known bool) {
	switch p {
	case PolicyOpen:
		return "", true
	case PolicySelf:
		return auth.ClustersOnly, true
	case PolicyNear, PolicyRead:
		return auth.Viewer, true
	case PolicyLocate:
		return auth.Support, true
	case PolicyOperate:
		return auth.Operator, true
	case PolicyAdmin:
		return auth.Admin, true
	}
	return "", false
}
