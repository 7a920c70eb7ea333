package store

import (
	"context"
	"time"
)

// Session is one browser that is signed in.
type Session struct {
	ID      string // shown in lists; opens nothing
	Hash    []byte // SHA-256 of the secret that the browser has
	Subject string // principal id
	Name    string
	Role    string // when it was made
	Method  string
	From    string
	Created time.Time
	Used    time.Time
	Expires time.Time // whatever happens

	// Stale is a session from before a change of the account's role: its secret
	// is good for RotateSession and nothing else.
	Stale bool
	// Former is until when the secret of the session that this one replaced finds
	// this one, for requests that were on their way; zero: it never did.
	Former time.Time
}

// Sessions keeps who is in now.
type Sessions interface {
	// CreateSession also ends the session replaces, if that is not "", and notes
	// the sign-in with the user, if the subject is one of ours.
	CreateSession(ctx context.Context, s Session, replaces string, e AuditEntry) error
	// RotateSession puts s in the place of the session old, which ends.
	// fault.NotFound when old has ended, so that one of many callers does it.
	RotateSession(ctx context.Context, old string, s Session, e AuditEntry) error
	// Session and SessionByHash give fault.NotFound. They know nothing of expiry.
	Session(ctx context.Context, id string) (Session, error)
	SessionByHash(ctx context.Context, hash []byte) (Session, error)
	// SessionByFormer finds the session that replaced the one of this secret, by
	// RotateSession and directly. It knows nothing of Former; fault.NotFound.
	SessionByFormer(ctx context.Context, hash []byte) (Session, error)
	// Sessions are those of a subject, "" of all, newest first.
	Sessions(ctx context.Context, subject string) ([]Session, error)
	// TouchSession notes a use; nothing happens when it has ended.
	TouchSession(ctx context.Context, id string, used time.Time) error
	// EndSession is fault.NotFound when there is none.
	EndSession(ctx context.Context, id string, e AuditEntry) error
	// DropSessions removes those that expired by now, were not used after idle, or
	// were made or used after ahead, and gives their ids.
	DropSessions(ctx context.Context, now, idle, ahead time.Time) ([]string, error)
}
