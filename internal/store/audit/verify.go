package audit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"shardboard/internal/store"
)

// Point is a position in the chain: record number Seq has this Hash. The zero Point is before the
// first record.
type Point struct {
	Seq  int64
	Hash []byte
}

// Equal reports whether number and hash are the same.
func (p Point) Equal(q Point) bool { return p.Seq == q.Seq && bytes.Equal(p.Hash, q.Hash) }

// Expect is what a chain must agree with, besides its own hashes.
type Expect struct {
	After   Point             // verified earlier: the records begin after it
	Reread  bool              // the records begin with the one at After, which must be unchanged
	Heads   []store.AuditHead // each must be validly signed and in the chain; those before After are skipped
	Witness *store.AuditHead  // head of a witness file, checked like Heads; nil: none
	Known   []Point           // known ends; each must be in the chain
	Key     string            // fingerprint of the key that must have signed every head; "" any
}

// Report is the result of Verify.
type Report struct {
	End   Point            // the last verified record
	Head  *store.AuditHead // newest of the heads that are in the chain; nil if none
	Break *Break           // nil: the chain is intact
}

// Verify checks records in order and keeps one in memory. It stops at the first inconsistency. The
// error is a failure to read and says nothing about the chain.
func Verify(records iter.Seq2[store.AuditRecord, error], x Expect) (Report, error) {
	rep := Report{End: x.After}
	if rep.End.Seq == 0 {
		rep.End.Hash = Begin()
	}
	marks, bad := x.marks(x.After.Seq)
	if bad != nil {
		rep.Break = bad
		return rep, nil
	}
	again := x.Reread && x.After.Seq > 0
	marks = rep.pass(marks)
	for r, err := range records {
		if err != nil {
			return rep, err
		}
		if rep.Break != nil {
			return rep, nil
		}
		if again {
			rep.Break, again = unchanged(r, x.After), false
			continue
		}
		if rep.Break = check(r, rep.End); rep.Break != nil {
			return rep, nil
		}
		rep.End = Point{r.Seq, r.Hash}
		marks = rep.pass(marks)
	}
	switch {
	case rep.Break != nil:
	case again:
		rep.Break = &Break{Code: Cut, Seq: x.After.Seq, Found: x.After.Seq - 1}
	case len(marks) > 0:
		m := marks[len(marks)-1]
		rep.Break = &Break{Code: Cut, Seq: m.Seq, Found: rep.End.Seq, At: m.at(), Witness: m.witness}
	}
	return rep, nil
}

// unchanged verifies that a record verified earlier is still the same.
func unchanged(r store.AuditRecord, was Point) *Break {
	canonical, err := Canonical(r.AuditEntry)
	switch {
	case r.Seq != was.Seq:
		return &Break{Code: Misplaced, Seq: was.Seq, Found: r.Seq}
	case err != nil || !bytes.Equal(r.Hash, Hash(r.Prev, r.Seq, canonical)):
		return &Break{Code: Changed, Seq: r.Seq}
	case !bytes.Equal(r.Hash, was.Hash):
		return &Break{Code: Rebuilt, Seq: r.Seq}
	}
	return nil
}

// mark is a point that the chain must contain.
type mark struct {
	Point
	head    *store.AuditHead // nil for a note
	witness bool             // the head comes from the witness file
}

func (m mark) at() time.Time {
	if m.head == nil {
		return time.Time{}
	}
	return m.head.At
}

func (m mark) rebuilt() *Break {
	return &Break{Code: Rebuilt, Seq: m.Seq, At: m.at(), Witness: m.witness}
}

// marks are the points to check from a position on, in order. A head with an invalid signature is a
// Break at once.
func (x Expect) marks(from int64) ([]mark, *Break) {
	var out []mark
	for i, h := range x.Heads {
		out = append(out, mark{Point{h.Seq, h.Hash}, &x.Heads[i], false})
	}
	if x.Witness != nil {
		out = append(out, mark{Point{x.Witness.Seq, x.Witness.Hash}, x.Witness, true})
	}
	for _, m := range out {
		switch key := Fingerprint(m.head.Key); {
		case !ValidSignature(*m.head):
			return nil, &Break{Code: Forged, Seq: m.Seq, At: m.head.At, Witness: m.witness}
		case x.Key != "" && key != x.Key:
			return nil, &Break{Code: OtherKey, Seq: m.Seq, At: m.head.At, Key: key, Witness: m.witness}
		}
	}
	for _, p := range x.Known {
		out = append(out, mark{p, nil, false})
	}
	out = slices.DeleteFunc(out, func(m mark) bool { return m.Seq < from })
	slices.SortStableFunc(out, func(a, b mark) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, nil
}

// pass compares the marks up to the current end and returns the rest.
func (rep *Report) pass(marks []mark) []mark {
	for len(marks) > 0 && marks[0].Seq <= rep.End.Seq {
		m := marks[0]
		if !m.Point.Equal(rep.End) {
			rep.Break = m.rebuilt()
			return marks
		}
		if m.head != nil {
			rep.Head = m.head
		}
		marks = marks[1:]
	}
	return marks
}

// Source is the part of store.Audit that reads records.
type Source interface {
	AuditRecords(ctx context.Context, after int64, limit int) ([]store.AuditRecord, error)
}

// batch is how many records are in memory at once.
const batch = 500

// Records reads all records after a number, in batches. From the beginning it also reads numbers
// below 1: this program writes none, so such a record was inserted.
func Records(ctx context.Context, from Source, after int64) iter.Seq2[store.AuditRecord, error] {
	if after == 0 {
		after = math.MinInt64
	}
	return recordsAfter(ctx, from, after)
}

func recordsAfter(ctx context.Context, from Source, after int64) iter.Seq2[store.AuditRecord, error] {
	return func(yield func(store.AuditRecord, error) bool) {
		for {
			rows, err := from.AuditRecords(ctx, after, batch)
			if err != nil {
				yield(store.AuditRecord{}, fmt.Errorf("read audit records: %w", err))
				return
			}
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
				after = r.Seq
			}
			if len(rows) < batch {
				return
			}
		}
	}
}
