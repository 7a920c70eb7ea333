// Package audit is the chain that makes the audit record tamper-evident: each
// record's hash covers the record before it, so none can be changed, removed,
// moved or put in without breaking every hash after it, and a signed head kept
// elsewhere shows a tail that was cut off or a chain that was made anew. The
// chain is pure functions over records; a Keeper signs its end and goes over
// it while the program runs.
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
	e = clean(e)
	b, err := json.Marshal(wire{e.Cluster, e.At.UnixMilli(), e.By, e.Via, e.From, e.What, e.Subject, e.Outcome, e.Details})
	if err != nil {
		return nil, fmt.Errorf("encode audit entry: %w", err)
	}
	return b, nil
}

// clean is an entry as it can be read back: milliseconds, and text that is
// UTF-8. Hostile text need not be; JSON would replace its bytes in a way that
// is another text when it is encoded once more, and the hash would be wrong.
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

// Next makes the record that follows (seq, prev) and the bytes to be kept of
// its entry. Every store appends by it; the first record follows (0, Begin()).
func Next(e store.AuditEntry, seq int64, prev []byte) (r store.AuditRecord, canonical []byte, err error) {
	e = clean(e)
	if canonical, err = Canonical(e); err != nil {
		return r, nil, err
	}
	seq++
	return store.AuditRecord{AuditEntry: e, Seq: seq, Prev: prev, Hash: Hash(prev, seq, canonical)}, canonical, nil
}

// Unreadable is the What of a record whose kept bytes are not an entry's
// canonical form: somebody wrote them past this program. Its hash never fits.
const Unreadable = "unreadable"

// Read is the record of kept bytes. It never fails, so that one damaged record
// hides none of the others; Check finds the damaged one.
func Read(seq int64, canonical, prev, hash []byte) store.AuditRecord {
	r := store.AuditRecord{Seq: seq, Prev: prev, Hash: hash}
	e, err := Parse(canonical)
	if err == nil {
		var again []byte
		if again, err = Canonical(e); err == nil && bytes.Equal(again, canonical) {
			r.AuditEntry = e
			return r
		}
	}
	r.AuditEntry = store.AuditEntry{What: Unreadable, Outcome: "unknown"}
	return r
}

// Hash is a record's: over the hash before it, its place and its entry.
func Hash(prev []byte, seq int64, canonical []byte) []byte {
	h := sha256.New()
	h.Write(prev)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(seq)))
	h.Write(canonical)
	return h.Sum(nil)
}

// Check tells whether a record follows the one before it, whose hash is prev;
// the error is a *Break.
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
