package store

import (
	"context"
	"errors"
	"time"
)

// ErrAuditDamaged is in the chain of every error that says the record is missing
// or was changed in a way that waiting does not mend: no table, a lost column, a
// damaged or replaced file.
var ErrAuditDamaged = errors.New("the audit record is damaged")

// AuditEntry is something that happened and must not be forgotten: who, what,
// to what, with which result. Subject and Details may hold hostile text and
// never a secret.
type AuditEntry struct {
	Cluster string            // id; "" when it is about no cluster
	At      time.Time         // when it happened, by the clock of this process
	By      string            // principal id: "user:anna", "token:…", "local"; "" when nobody was known
	Via     string            // how they were known: "password", "oidc", "proxy", "token", "none", "break-glass"
	From    string            // client address, without port
	What    string            // catalogue code: "login.ok", "login.refused", "plan.made", "run.step", …
	Subject string            // what it was done to: a plan or run id, a user, a namespace
	Outcome string            // "ok", "refused", "failed", "unknown"
	Details map[string]string // more, by catalogue names
}

// AuditRecord is an entry in its place in the chain.
type AuditRecord struct {
	AuditEntry
	Seq  int64  // from 1, without a gap
	Prev []byte // Hash of the record before; 32 zero bytes for the first
	Hash []byte // SHA-256 over Prev and the canonical form of the entry and Seq
}

// AuditHead is the end of the chain as signed at a time: who keeps it can tell
// later that nothing up to it was changed or cut off.
type AuditHead struct {
	Seq       int64
	Hash      []byte
	At        time.Time
	Key       []byte // ed25519 public key
	Signature []byte // over Seq, Hash and At
}

// Audit is the append-only record. There is no method to change or remove.
type Audit interface {
	// Append puts an entry at the end of the chain.
	Append(ctx context.Context, e AuditEntry) (AuditRecord, error)
	// AuditRecords gives records in order, those after the given Seq, at most limit.
	AuditRecords(ctx context.Context, after int64, limit int) ([]AuditRecord, error)
	// AuditBefore gives records newest first, those before the given Seq, at most
	// limit.
	AuditBefore(ctx context.Context, before int64, limit int) ([]AuditRecord, error)
	// AuditEnd is the last record's place and hash; zero when there is none.
	AuditEnd(ctx context.Context) (seq int64, hash []byte, err error)
	// AuditWritten is the last record as this process wrote it, or as it found it
	// when it started. Nobody else may write, so the record must have it and nothing
	// after it. It is never behind what can be read. known is false in a process
	// that only reads. It fails when the data is not where it was opened.
	AuditWritten(ctx context.Context) (seq int64, hash []byte, known bool, err error)
	// SaveHead keeps a signed head; LastHead gives the newest one, nil if none.
	SaveHead(ctx context.Context, h AuditHead) error
	LastHead(ctx context.Context) (*AuditHead, error)
	// AuditHeads gives every kept head in the order of signing: the first limit of
	// those after the first skip.
	AuditHeads(ctx context.Context, skip, limit int) ([]AuditHead, error)
}
