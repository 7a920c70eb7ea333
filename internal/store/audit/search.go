package audit

import (
	"context"
	"strings"
	"time"

	"shardboard/internal/store"
)

// Filter selects records; the zero Filter matches all. Texts must be equal, but a What that ends in
// a dot matches every code that begins with it.
type Filter struct {
	By, What, Subject string
	From, To          time.Time // inclusive, exclusive; zero: no bound
}

// Matches reports whether a record matches.
func (f Filter) Matches(r store.AuditRecord) bool {
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

// Reader is the part of store.Audit that searching needs.
type Reader interface {
	Source
	AuditBefore(ctx context.Context, before int64, limit int) ([]store.AuditRecord, error)
	AuditEnd(ctx context.Context) (seq int64, hash []byte, err error)
}

// Bounds of one search: how many records it reads, and for how long. With millions of records a match may be too far
// back to wait for.
const (
	maxSearched = 10_000
	searchTime  = 100 * time.Millisecond
)

// Found is one page of the records that match a filter.
type Found struct {
	Records []store.AuditRecord
	Next    int64 // where to continue; meaningless without More
	More    bool  // there may be more
}

// Newest returns at most limit records that match a filter, newest first, from below a number (0:
// from the end). A page with fewer records and More set was stopped by the bounds of one search.
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

// Oldest is Newest in the other direction: from above a number (0: from the first).
func Oldest(ctx context.Context, s Reader, f Filter, above int64, limit int) (Found, error) {
	read := func(from int64, n int) ([]store.AuditRecord, error) { return s.AuditRecords(ctx, from, n) }
	return search(read, f, above, limit)
}

func search(read func(from int64, n int) ([]store.AuditRecord, error), f Filter, from int64, limit int) (Found, error) {
	out, began := Found{Next: from}, time.Now()
	for looked := 0; looked == 0 || looked < maxSearched && time.Since(began) < searchTime; {
		rows, err := read(out.Next, batch)
		if err != nil {
			return out, err
		}
		looked += len(rows)
		for _, r := range rows {
			if f.Matches(r) {
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
