package audit

import (
	"context"
	"strings"
	"time"

	"shardboard/internal/store"
)

// Filter chooses records; the zero Filter takes all. Texts are compared whole,
// but a What that ends in a dot takes every code that begins with it.
type Filter struct {
	By, What, Subject string
	From, To          time.Time // inclusive, exclusive; zero: no bound
}

// Takes tells whether a record is among those looked for.
func (f Filter) Takes(r store.AuditRecord) bool {
	switch {
	case f.By != "" && r.By != f.By,
		f.Subject != "" && r.Subject != f.Subject,
		!f.From.IsZero() && r.At.Before(f.From),
		!f.To.IsZero() && !r.At.Before(f.To):
		return false
	case f.What == "" || r.What == f.What:
		return true
	}
	return strings.HasSuffix(f.What, ".") && strings.HasPrefix(r.What, f.What)
}

// Reader is what searching needs; store.Audit is one.
type Reader interface {
	Source
	AuditBefore(ctx context.Context, before int64, limit int) ([]store.AuditRecord, error)
	AuditEnd(ctx context.Context) (seq int64, hash []byte, err error)
}

// searched bounds how many records one search reads: what is wanted may be
// far back in millions, and nobody waits that long for a page.
const searched = 20_000

// Found is a part of what a filter takes.
type Found struct {
	Records []store.AuditRecord
	Next    int64 // goes on from here; meaningless without More
	More    bool  // there may be more
}

// Newest gives records that a filter takes, newest first, from below a place
// (0: from the end), at most limit. One search reads at most 20,000 records; a
// part that is short of limit and has More was bounded by that.
func Newest(ctx context.Context, s Reader, f Filter, below int64, limit int) (Found, error) {
	read := func(from int64, n int) ([]store.AuditRecord, error) { return s.AuditBefore(ctx, from, n) }
	if below == 0 {
		end, _, err := s.AuditEnd(ctx)
		if err != nil {
			return Found{}, err
		}
		below = end + 1
	}
	return search(read, f, below, limit)
}

// Oldest is Newest the other way round: from above a place (0: from the first).
func Oldest(ctx context.Context, s Reader, f Filter, above int64, limit int) (Found, error) {
	read := func(from int64, n int) ([]store.AuditRecord, error) { return s.AuditRecords(ctx, from, n) }
	return search(read, f, above, limit)
}

func search(read func(from int64, n int) ([]store.AuditRecord, error), f Filter, from int64, limit int) (Found, error) {
	out := Found{Next: from}
	for looked := 0; looked < searched; {
		rows, err := read(out.Next, batch)
		if err != nil {
			return out, err
		}
		looked += len(rows)
		for _, r := range rows {
			if f.Takes(r) {
				if len(out.Records) == limit {
					out.More = true
					return out, nil
				}
				out.Records = append(out.Records, r)
			}
			out.Next = r.Seq
		}
		if len(rows) < batch {
			return out, nil
		}
	}
	out.More = true
	return out, nil
}
