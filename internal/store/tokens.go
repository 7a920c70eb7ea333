package store

import (
	"context"
	"time"
)

// Token is an API key of a script.
type Token struct {
	ID      string // shown in lists; not a secret
	Hash    []byte // SHA-256 of the secret
	Name    string
	Role    string
	Owner   string // principal id of its creator
	Created time.Time
	Expires time.Time
	Used    time.Time // zero: never
	Revoked time.Time // zero: not revoked

	Clusters map[string]string // role by name of the clusters that it is bound to; nil: it is not bound
	// OwnerRole and OwnerGroups are the creator's when it was made; "" and nil for an account here,
	// whose role is read again each time.
	OwnerRole   string
	OwnerGroups []string
}

// Tokens stores API keys.
type Tokens interface {
	CreateToken(ctx context.Context, t Token, e AuditEntry) error
	// Token and TokenByHash return fault.NotFound. They do not check expiry.
	Token(ctx context.Context, id string) (Token, error)
	TokenByHash(ctx context.Context, hash []byte) (Token, error)
	// Tokens returns an owner's tokens, all for "", newest first.
	Tokens(ctx context.Context, owner string) ([]Token, error)
	// TouchToken stores the time of a use; it does nothing when there is no such token.
	TouchToken(ctx context.Context, id string, used time.Time) error
	// RevokeToken returns fault.NotFound when there is none, and Conflict when it is already
	// revoked.
	RevokeToken(ctx context.Context, id string, at time.Time, e AuditEntry) error
}
