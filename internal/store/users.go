package store

import (
	"context"
	"time"
)

// User is an account of ours. It is never removed, only disabled, so that a
// name in the audit record stays one person's.
type User struct {
	ID         string
	Name       string // unique among all there ever were
	Role       string
	Password   string // encoded argon2id hash
	BreakGlass bool   // for when nothing else works; there is at most one
	Disabled   bool
	Created    time.Time
	LastLogin  time.Time // zero: never
}

// UserChange says what to change; nil leaves it.
type UserChange struct {
	Role     *string
	Password *string
	Disabled *bool

	// Keep is a role of which one user must remain who is not disabled and not
	// for break-glass; else the change is a Conflict. "" asks for nothing.
	Keep string
	// End ends all sessions of the principal of this id, except those in Except.
	End    string
	Except string
	// Rotate makes all sessions of the principal of this id stale.
	Rotate string
}

// Users keeps people who may come in. Each change is written together with the
// audit entry that tells of it.
type Users interface {
	// CreateUser is a Conflict when the name is taken, or a second for break-glass.
	CreateUser(ctx context.Context, u User, e AuditEntry) error
	// CreateFirstUser is CreateUser while there is no user but for break-glass;
	// else a Conflict.
	CreateFirstUser(ctx context.Context, u User, e AuditEntry) error
	// User and UserByName give fault.NotFound.
	User(ctx context.Context, id string) (User, error)
	UserByName(ctx context.Context, name string) (User, error)
	// Users are all, by name.
	Users(ctx context.Context) ([]User, error)
	// ChangeUser gives the ids of the sessions that ended or became stale by it.
	// fault.NotFound.
	ChangeUser(ctx context.Context, id string, c UserChange, e AuditEntry) (ended []string, err error)
}
