package audit

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"shardboard/internal/store"
)

// Point is a place in the chain: the record with Seq has Hash. The zero Point
// is before the first record.
type Point struct {
	Seq  int64
	Hash []byte
}

// What can be wrong with a chain.
const (
	Misplaced = "misplaced" // another record stands at this place: one was removed, moved or put in
	Unlinked  = "unlinked"  // the record does not follow the one before it
	Changed   = "changed"   // the record is not what it was when it was written
	Cut       = "cut"       // the chain ends before a head that it once had
	Rebuilt   = "rebuilt"   // the chain has another record where a head was
	Forged    = "forged"    // a head's signature is not its key's
	OtherKey  = "otherKey"  // a head is signed, by a key that is not trusted
)

// Break is the first thing that is wrong with a chain.
type Break struct {
	Code  string
	Seq   int64     // the place where it shows
	Found int64     // Misplaced: the place that the record there claims; Cut: the last record
	At    time.Time // when the head was signed, where it is about one
	Key   string    // OtherKey: the fingerprint of the head's key
}

// Error is a sentence for the command line.
func (b *Break) Error() string {
	switch b.Code {
	case Misplaced:
		return fmt.Sprintf("the record with number %d stands where %d belongs: one was removed, moved or put in", b.Found, b.Seq)
	case Unlinked:
		return fmt.Sprintf("record %d does not follow the one before it", b.Seq)
	case Changed:
		return fmt.Sprintf("record %d was changed after it was written", b.Seq)
	case Cut:
		return fmt.Sprintf("the records end at %d, and there was a record %d%s: the end was cut off", b.Found, b.Seq, b.signed())
	case Rebuilt:
		return fmt.Sprintf("record %d is not the one that stood there%s: the records were made anew", b.Seq, b.signed())
	case Forged:
		return fmt.Sprintf("the signature of the head at record %d is false", b.Seq)
	case OtherKey:
		return fmt.Sprintf("the head at record %d is signed by another key, %s", b.Seq, b.Key)
	}
	return fmt.Sprintf("record %d is wrong (%s)", b.Seq, b.Code)
}

func (b *Break) signed() string {
	if b.At.IsZero() {
		return ""
	}
	return " when a head was signed at " + b.At.UTC().Format(time.RFC3339)
}

// Expect is what a chain is held against, beyond itself.
type Expect struct {
	After Point             // verified before: the records begin after it
	Heads []store.AuditHead // each must be signed and in the chain; those before After are not looked for
	Notes []Point           // ends that somebody noted; each must be in the chain
	Key   string            // fingerprint that every head must be signed by; "" any
}

// Report is what a walk over the chain found.
type Report struct {
	End   Point            // the last record that follows all before it
	Head  *store.AuditHead // the newest of the heads that the chain has; nil if none
	Break *Break           // nil: nothing is wrong
}

// Verify walks records in order, as many as there are, and keeps one in
// memory. It stops at the first thing that is wrong. The error is a failure to
// read and says nothing about the chain.
func Verify(records iter.Seq2[store.AuditRecord, error], x Expect) (Report, error) {
	rep := Report{End: x.After}
	if rep.End.Seq == 0 {
		rep.End.Hash = Begin()
	}
	marks, bad := x.marks()
	if bad != nil {
		rep.Break = bad
		return rep, nil
	}
	marks = rep.pass(marks)
	for r, err := range records {
		if err != nil {
			return rep, err
		}
		if rep.Break != nil {
			return rep, nil
		}
		if rep.Break = check(r, rep.End); rep.Break != nil {
			return rep, nil
		}
		rep.End = Point{r.Seq, r.Hash}
		marks = rep.pass(marks)
	}
	if rep.Break == nil && len(marks) > 0 {
		m := marks[len(marks)-1]
		rep.Break = &Break{Code: Cut, Seq: m.Seq, Found: rep.End.Seq, At: m.at()}
	}
	return rep, nil
}

// mark is a point that the chain must have.
type mark struct {
	Point
	head *store.AuditHead // nil for a note
}

func (m mark) at() time.Time {
	if m.head == nil {
		return time.Time{}
	}
	return m.head.At
}

// marks are all points to be met, in order. Heads whose signature is wrong
// end the walk before it begins.
func (x Expect) marks() ([]mark, *Break) {
	var out []mark
	for i, h := range x.Heads {
		switch key := Fingerprint(h.Key); {
		case !Signed(h):
			return nil, &Break{Code: Forged, Seq: h.Seq, At: h.At}
		case x.Key != "" && key != x.Key:
			return nil, &Break{Code: OtherKey, Seq: h.Seq, At: h.At, Key: key}
		}
		out = append(out, mark{Point{h.Seq, h.Hash}, &x.Heads[i]})
	}
	for _, p := range x.Notes {
		out = append(out, mark{p, nil})
	}
	out = slices.DeleteFunc(out, func(m mark) bool { return m.Seq < x.After.Seq })
	slices.SortStableFunc(out, func(a, b mark) int { return int(min(max(a.Seq-b.Seq, -1), 1)) })
	return out, nil
}

// pass compares the marks that are at the end reached, and gives the rest.
func (rep *Report) pass(marks []mark) []mark {
	for len(marks) > 0 && marks[0].Seq <= rep.End.Seq {
		m := marks[0]
		if m.Seq != rep.End.Seq || !bytes.Equal(m.Hash, rep.End.Hash) {
			rep.Break = &Break{Code: Rebuilt, Seq: m.Seq, At: m.at()}
			return marks
		}
		if m.head != nil {
			rep.Head = m.head
		}
		marks = marks[1:]
	}
	return marks
}

// Source is where records are read from; store.Audit is one.
type Source interface {
	AuditRecords(ctx context.Context, after int64, limit int) ([]store.AuditRecord, error)
}

// batch is how many records are in memory at once.
const batch = 500

// Records reads all records after a place, in batches. From the beginning it
// asks for places below 1 too: no record of ours has one, and one that does
// was put in.
func Records(ctx context.Context, from Source, after int64) iter.Seq2[store.AuditRecord, error] {
	if after == 0 {
		after = math.MinInt64
	}
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
