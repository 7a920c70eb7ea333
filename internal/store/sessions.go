package store

import (
	"context"
	"time"
)

// Session is a signed-in browser.
type Session struct {
	ID      string // shown in lists; not a secret
	Hash    []byte // SHA-256 of the secret that the browser has
	Subject string // principal id
	Name    string
	Role    string // role when the session was made
	Method  string
	From    string
	Created time.Time
	Used    time.Time
	Expires time.Time // latest end

	// Stale marks a session from before a change of the account's role: its secret is valid for
	// RotateSession only.
	Stale bool
	// Former is until when the secret of the replaced session still finds this one, for requests
	// that were already on their way; zero: never.
	Former time.Time
	// Groups are those of the person at the issuer, as far as they are kept.
	Groups []string

	// FormerHash is that of the session that this one replaced; nil: of none. The store sets it.
	FormerHash []byte
	Seal       []byte // by package seal; nil: none
}

// Sessions stores who is signed in.
type Sessions interface {
	// CreateSession also ends the session replaces, if not "", and records the sign-in time of a
	// local user.
	CreateSession(ctx context.Context, s Session, replaces string, e AuditEntry) error
	// RotateSession replaces the session old by s. fault.NotFound when old has ended, so only one
	// of many concurrent callers succeeds.
	RotateSession(ctx context.Context, old string, s Session, e AuditEntry) error
	// Session and SessionByHash return fault.NotFound. They do not check expiry.
	Session(ctx context.Context, id string) (Session, error)
	SessionByHash(ctx context.Context, hash []byte) (Session, error)
	// SessionByFormer finds the session that directly replaced the one of this secret. It does not
	// check Former; fault.NotFound.
	SessionByFormer(ctx context.Context, hash []byte) (Session, error)
	// Sessions returns a subject's sessions, all for "", newest first.
	Sessions(ctx context.Context, subject string) ([]Session, error)
	// TouchSession stores the time of a use; it does nothing when the session has ended.
	TouchSession(ctx context.Context, id string, used time.Time) error
	// EndSession returns fault.NotFound when there is none.
	EndSession(ctx context.Context, id string, e AuditEntry) error
	// DropSessions deletes sessions that expired by now, were last used before idle, or were made
	// or used after ahead, and returns their ids.
	DropSessions(ctx context.Context, now, idle, ahead time.Time) ([]string, error)
}
