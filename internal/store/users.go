package store

import (
	"context"
	"time"
)

// User is an account kept here. It is never removed, only disabled, so that a name in the audit
// record stays one person's.
type User struct {
	ID         string
	Name       string // unique, also among disabled accounts
	Role       string
	Password   string // encoded argon2id hash
	BreakGlass bool   // the emergency account; at most one
	Disabled   bool
	Created    time.Time
	LastLogin  time.Time // zero: never
}

// UserChange lists what to change; nil fields stay as they are.
type UserChange struct {
	Role     *string
	Password *string
	Disabled *bool

	// Keep is a role that at least one enabled user other than the break-glass account must have
	// after the change; else the change is a Conflict. "" requires nothing.
	Keep string
	// End is the principal id whose sessions end. Instead is a session that is made in their place; nil: none.
	End     string
	Instead *Session
	// Revoke is the principal id whose tokens are revoked, at RevokeAt.
	Revoke   string
	RevokeAt time.Time
	// Rotate is the principal id whose sessions become stale.
	Rotate string
}

// Users stores accounts. Each change is written in one transaction with its audit entry.
type Users interface {
	// CreateUser returns Conflict when the name is taken, or for a second break-glass account.
	CreateUser(ctx context.Context, u User, e AuditEntry) error
	// CreateFirstUser is CreateUser, but a Conflict once there is a user other than the break-glass
	// account.
	CreateFirstUser(ctx context.Context, u User, e AuditEntry) error
	// User and UserByName return fault.NotFound.
	User(ctx context.Context, id string) (User, error)
	UserByName(ctx context.Context, name string) (User, error)
	// Users returns all accounts, by name.
	Users(ctx context.Context) ([]User, error)
	// ChangeUser returns the ids of sessions that it ended or made stale; fault.NotFound.
	ChangeUser(ctx context.Context, id string, c UserChange, e AuditEntry) (ended []string, err error)
}
