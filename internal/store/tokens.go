package store

import (
	"context"
	"time"
)

// Token is a key of a script.
type Token struct {
	ID      string // shown in lists; opens nothing
	Hash    []byte // SHA-256 of the secret
	Name    string
	Role    string
	Owner   string // principal id of who made it
	Created time.Time
	Expires time.Time
	Used    time.Time // zero: never
	Revoked time.Time // zero: it is not
}

// Tokens keeps keys of scripts.
type Tokens interface {
	CreateToken(ctx context.Context, t Token, e AuditEntry) error
	// Token and TokenByHash give fault.NotFound. They know nothing of expiry.
	Token(ctx context.Context, id string) (Token, error)
	TokenByHash(ctx context.Context, hash []byte) (Token, error)
	// Tokens are those of an owner, "" of all, newest first.
	Tokens(ctx context.Context, owner string) ([]Token, error)
	// TouchToken notes a use; nothing happens when there is none.
	TouchToken(ctx context.Context, id string, used time.Time) error
	// RevokeToken is fault.NotFound when there is none, and a Conflict when it is
	// revoked already.
	RevokeToken(ctx context.Context, id string, at time.Time, e AuditEntry) error
}
