// Package audit is the chain that makes the audit record tamper-evident: each
// record's hash covers the record before it, so none can be changed, removed,
// moved or put in without breaking every hash after it, and a signed head kept
// elsewhere shows a tail that was cut off. Pure functions; no storage.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"shardboard/internal/store"
)

// Begin is what the first record follows: 32 zero bytes.
func Begin() []byte { return make([]byte, sha256.Size) }

// wire is the canonical form: fixed fields in a fixed order, map keys sorted by
// encoding/json, times in milliseconds.
type wire struct {
	Cluster string            `json:"cluster"`
	At      int64             `json:"at"`
	By      string            `json:"by"`
	Via     string            `json:"via"`
	From    string            `json:"from"`
	What    string            `json:"what"`
	Subject string            `json:"subject"`
	Outcome string            `json:"outcome"`
	Details map[string]string `json:"details"`
}

// Canonical is the one byte form of an entry, which its hash covers.
func Canonical(e store.AuditEntry) ([]byte, error) {
	b, err := json.Marshal(wire{e.Cluster, e.At.UnixMilli(), e.By, e.Via, e.From, e.What, e.Subject, e.Outcome, e.Details})
	if err != nil {
		return nil, fmt.Errorf("encode audit entry: %w", err)
	}
	return b, nil
}

// Parse reads a canonical form.
func Parse(b []byte) (store.AuditEntry, error) {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return store.AuditEntry{}, fmt.Errorf("decode audit entry: %w", err)
	}
	return store.AuditEntry{Cluster: w.Cluster, At: time.UnixMilli(w.At).UTC(), By: w.By, Via: w.Via, From: w.From,
		What: w.What, Subject: w.Subject, Outcome: w.Outcome, Details: w.Details}, nil
}

// Hash is a record's: over the hash before it, its place and its entry.
func Hash(prev []byte, seq int64, canonical []byte) []byte {
	h := sha256.New()
	h.Write(prev)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(seq)))
	h.Write(canonical)
	return h.Sum(nil)
}

// Check tells whether a record follows the one before it, whose hash is prev.
func Check(r store.AuditRecord, seq int64, prev []byte) error {
	canonical, err := Canonical(r.AuditEntry)
	switch {
	case err != nil:
		return err
	case r.Seq != seq:
		return fmt.Errorf("record %d stands where %d belongs", r.Seq, seq)
	case !bytes.Equal(r.Prev, prev):
		return fmt.Errorf("record %d does not follow the one before it", r.Seq)
	case !bytes.Equal(r.Hash, Hash(prev, seq, canonical)):
		return fmt.Errorf("record %d was changed after it was written", r.Seq)
	}
	return nil
}
