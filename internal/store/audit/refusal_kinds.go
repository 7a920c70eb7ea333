package audit

import (
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"shardboard/internal/store"
)

// allowance limits what one group of clients can add to the record.
type allowance struct {
	records  *rate.Limiter
	kinds    int // kinds counted now
	maxKinds int // largest number of kinds
}

// kind identifies attempts that are counted together.
type kind struct{ by, what, via, details string }

// counterFor returns the counter of an entry. When there are too many kinds, the others share one
// counter.
func (r *Refusals) counterFor(e store.AuditEntry, now time.Time) *refusalCounter {
	key := kind{e.By, e.What, e.Via, canonicalDetails(e.Details)}
	group := r.group(key)
	if r.kinds[key] == nil && group.kinds >= group.maxKinds {
		r.forget(now)
		if group.kinds >= group.maxKinds {
			key = kind{by: key.by, what: e.What, details: "several"}
			if key.by != "" {
				key.by = "several"
			}
		}
	}
	if of := r.kinds[key]; of != nil {
		return of
	}
	of := newRefusalCounter(key)
	r.kinds[key] = of
	group.kinds++
	return of
}

func (r *Refusals) group(key kind) *allowance {
	if key.by == "" {
		return &r.anonymous
	}
	return &r.people
}

// allowed takes a record from the allowances of the group and the kind, if both have one left.
func (r *Refusals) allowed(of *refusalCounter, now time.Time) bool {
	all := r.group(of.key).records
	if all.TokensAt(now) < 1 || of.records != nil && of.records.TokensAt(now) < 1 {
		return false
	}
	if of.records != nil {
		of.records.AllowN(now, 1)
	}
	return all.AllowN(now, 1)
}

// waiting returns the counters with something to record, the longest waiting first.
func (r *Refusals) waiting() []*refusalCounter {
	var out []*refusalCounter
	for _, of := range r.kinds {
		if of.count > 0 {
			out = append(out, of)
		}
	}
	slices.SortFunc(out, func(a, b *refusalCounter) int {
		if order := a.first.Compare(b.first); order != 0 {
			return order
		}
		return strings.Compare(a.key.by+a.key.what+a.key.via+a.key.details, b.key.by+b.key.what+b.key.via+b.key.details)
	})
	return out
}

// forget removes counters that have nothing to record and a full allowance: a new one would be the
// same.
func (r *Refusals) forget(now time.Time) {
	maps.DeleteFunc(r.kinds, func(key kind, of *refusalCounter) bool {
		drop := of.count == 0 && of.recordDue(now) && (of.records == nil || of.records.TokensAt(now) >= kindBurst)
		if drop {
			r.group(key).kinds--
		}
		return drop
	})
}
