// Package audit makes the audit record tamper-evident. Each record's hash covers
// the record before it, so none can be edited, deleted, moved or inserted without
// breaking every hash after it. A signed head kept elsewhere shows that the last
// records were deleted or the whole chain was rewritten. The chain is made of pure
// functions over records; a Keeper verifies it while the program runs and signs its
// end.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"shardboard/internal/store"
)

// Begin is the hash that the first record links to: 32 zero bytes.
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
func Canonical(e store.AuditEntry) ([]byte, error) { return encoded(clean(e)) }

// encoded is the canonical form of a clean entry.
func encoded(e store.AuditEntry) ([]byte, error) {
	b, err := json.Marshal(wire{e.Cluster, e.At.UnixMilli(), e.By, e.Via, e.From, e.What, e.Subject, e.Outcome, e.Details})
	if err != nil {
		return nil, fmt.Errorf("encode audit entry: %w", err)
	}
	return b, nil
}

// clean makes an entry that reads back the same: times in milliseconds and text in
// UTF-8. JSON replaces invalid bytes, so an entry with such text would be encoded
// differently after it was read, and its hash would not match.
func clean(e store.AuditEntry) store.AuditEntry {
	e.At = e.At.UTC().Truncate(time.Millisecond)
	for _, s := range []*string{&e.Cluster, &e.By, &e.Via, &e.From, &e.What, &e.Subject, &e.Outcome} {
		*s = valid(*s)
	}
	if e.Details != nil {
		details := make(map[string]string, len(e.Details))
		for name, text := range e.Details {
			details[valid(name)] = valid(text)
		}
		e.Details = details
	}
	return e
}

func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// Parse reads a canonical form.
func Parse(b []byte) (store.AuditEntry, error) {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return store.AuditEntry{}, fmt.Errorf("decode audit entry: %w", err)
	}
	return store.AuditEntry{Cluster: w.Cluster, At: time.UnixMilli(w.At).UTC(), By: w.By, Via: w.Via, From: w.From,
		What: w.What, Subject: w.Subject, Outcome: w.Outcome, Details: w.Details}, nil
}

// Next makes the record that follows (seq, prev), and the bytes of its entry to
// store. Every store appends with it; the first record follows (0, Begin()).
func Next(e store.AuditEntry, seq int64, prev []byte) (r store.AuditRecord, canonical []byte, err error) {
	e = clean(e)
	if canonical, err = Canonical(e); err != nil {
		return r, nil, err
	}
	seq++
	return store.AuditRecord{AuditEntry: e, Seq: seq, Prev: prev, Hash: Hash(prev, seq, canonical)}, canonical, nil
}

// Unreadable is the What of a record whose stored bytes are not an entry's
// canonical form: another program wrote them. Its hash never matches.
const Unreadable = "unreadable"

// Withheld is the What of a record whose entry its reader may not see. No record is stored with it.
const Withheld = "withheld"

// Read makes a record from stored bytes. It never fails, so that one damaged record
// does not hide the others; Check finds the damaged one.
func Read(seq int64, canonical, prev, hash []byte) store.AuditRecord {
	r := store.AuditRecord{Seq: seq, Prev: prev, Hash: hash}
	e, err := Parse(canonical)
	if err == nil {
		var again []byte
		if again, err = encoded(e); err == nil && bytes.Equal(again, canonical) {
			r.AuditEntry = e
			return r
		}
	}
	r.AuditEntry = store.AuditEntry{What: Unreadable, Outcome: "unknown"}
	return r
}

// Hash is the hash of a record: over the hash before it, its number and its entry.
func Hash(prev []byte, seq int64, canonical []byte) []byte {
	h := sha256.New()
	h.Write(prev)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(seq)))
	h.Write(canonical)
	return h.Sum(nil)
}

// Check verifies that a record follows the one before it, whose hash is prev. The error is a
// *Break.
func Check(r store.AuditRecord, seq int64, prev []byte) error {
	if b := check(r, Point{Seq: seq - 1, Hash: prev}); b != nil {
		return b
	}
	return nil
}

func check(r store.AuditRecord, before Point) *Break {
	canonical, err := Canonical(r.AuditEntry)
	switch {
	case r.Seq != before.Seq+1:
		return &Break{Code: Misplaced, Seq: before.Seq + 1, Found: r.Seq}
	case !bytes.Equal(r.Prev, before.Hash):
		return &Break{Code: Unlinked, Seq: r.Seq}
	case err != nil || !bytes.Equal(r.Hash, Hash(before.Hash, r.Seq, canonical)):
		return &Break{Code: Changed, Seq: r.Seq}
	}
	return nil
}
