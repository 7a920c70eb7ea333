package store

import (
	"context"
	"time"
)

// SealReset makes everything that was sealed by another key, or by none, end.
type SealReset struct {
	Setting, Value string // names the key; nothing is done if the setting has this value already
	// Approval gives what is stored about a plan its new seal, or says that it ends.
	Approval func(ApprovalRecord) (seal []byte, keep bool)
	Entry    AuditEntry
}

// Seals changes the key of all seals.
type Seals interface {
	// ResetSeals ends all sessions, requests to the leader and the approvals that do not stay, and stores the
	// setting, in one transaction. It returns false if another process did so before.
	ResetSeals(ctx context.Context, r SealReset) (bool, error)
}

// Unsealed is a row without a valid seal, which does not count.
type Unsealed struct {
	Table string
	ID    string    // untrusted text
	At    time.Time // when it was seen last
}
