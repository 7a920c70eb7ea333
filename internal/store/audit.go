package store

import (
	"context"
	"errors"
	"time"
)

// ErrAuditDamaged is in the chain of every error that says the record is missing or was changed in
// a way that does not repair itself: no table, a lost column, a damaged or replaced file.
var ErrAuditDamaged = errors.New("the audit record is damaged")

// AuditEntry describes one security-relevant action: who, what, on what, with which result. Subject
// and Details may contain untrusted text, but never a secret.
type AuditEntry struct {
	Cluster string            // id; "" when it is about no cluster
	At      time.Time         // time of the action, by this process's clock
	By      string            // principal id: "user:anna", "token:…", "local"; "" when nobody was known
	Via     string            // sign-in method: "password", "oidc", "proxy", "token", "none", "break-glass"
	From    string            // client address, without port
	What    string            // catalogue code: "login.ok", "login.refused", "plan.made", "run.step", …
	Subject string            // object of the action: a plan or run id, a user, a namespace
	Outcome string            // "ok", "refused", "failed", "unknown"
	Details map[string]string // further facts by catalogue name
}

// AuditRecord is an entry in the hash chain.
type AuditRecord struct {
	AuditEntry
	Seq  int64  // from 1, without gaps
	Prev []byte // hash of the previous record; 32 zero bytes for the first
	Hash []byte // SHA-256 over Prev and the canonical form of the entry and Seq
}

// WrittenRecord is an audit record as this process wrote it, or as it found it at start. The stored
// record must still have it, with this hash.
type WrittenRecord struct {
	Seq   int64
	Hash  []byte
	Known bool // false in a process that only reads
	// Last means that no other process may write, so nothing may follow this record. It is then never
	// behind what can be read. It is false in a store that several processes write.
	Last bool
}

// AuditHead is the signed end of the chain at a time. Whoever keeps a copy can later tell whether
// anything up to it was changed or cut off.
type AuditHead struct {
	Seq       int64
	Hash      []byte
	At        time.Time
	Key       []byte // ed25519 public key
	Signature []byte // over Seq, Hash and At
}

// Audit is the append-only audit record. It has no method to change or remove entries.
type Audit interface {
	// Append adds an entry to the end of the chain.
	Append(ctx context.Context, e AuditEntry) (AuditRecord, error)
	// AuditRecords returns at most limit records after the given Seq, in order.
	AuditRecords(ctx context.Context, after int64, limit int) ([]AuditRecord, error)
	// AuditBefore returns at most limit records before the given Seq, newest first.
	AuditBefore(ctx context.Context, before int64, limit int) ([]AuditRecord, error)
	// AuditEnd returns number and hash of the last record; zero when there is none.
	AuditEnd(ctx context.Context) (seq int64, hash []byte, err error)
	// AuditWritten returns the last record that this process knows from its own memory. It fails
	// when the data directory was moved or replaced.
	AuditWritten(ctx context.Context) (WrittenRecord, error)
	// SaveHead stores a signed head; LastHead returns the newest, nil if none.
	SaveHead(ctx context.Context, h AuditHead) error
	LastHead(ctx context.Context) (*AuditHead, error)
	// AuditHeads returns at most limit heads in the order of signing, after the first skip.
	AuditHeads(ctx context.Context, skip, limit int) ([]AuditHead, error)
}
