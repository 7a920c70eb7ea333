package audit

import (
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"shardboard/internal/store"
)

// allowance is what one group of askers can add.
type allowance struct {
	records *rate.Limiter
	kinds   int // counted apart now
	most    int // largest number of kinds
}

// kind is what is counted together.
type kind struct{ by, what, via, details string }

// of is where an entry is counted. When there are too many kinds, the rest is
// one kind.
func (r *Refusals) of(e store.AuditEntry, now time.Time) *refused {
	key := kind{e.By, e.What, e.Via, canonicalDetails(e.Details)}
	group := r.group(key)
	if r.kinds[key] == nil && group.kinds >= group.most {
		r.forget(now)
		if group.kinds >= group.most {
			key = kind{by: key.by, what: e.What, details: "several"}
			if key.by != "" {
				key.by = "several"
			}
		}
	}
	if of := r.kinds[key]; of != nil {
		return of
	}
	of := newRefused(key)
	r.kinds[key] = of
	group.kinds++
	return of
}

func (r *Refusals) group(key kind) *allowance {
	if key.by == "" {
		return &r.strangers
	}
	return &r.people
}

// allowed takes a record from the allowances of a kind, if they have one.
func (r *Refusals) allowed(of *refused, now time.Time) bool {
	all := r.group(of.key).records
	if all.TokensAt(now) < 1 || of.records != nil && of.records.TokensAt(now) < 1 {
		return false
	}
	if of.records != nil {
		of.records.AllowN(now, 1)
	}
	return all.AllowN(now, 1)
}

// waiting are the kinds with something to record, those that waited longest
// first.
func (r *Refusals) waiting() []*refused {
	var out []*refused
	for _, of := range r.kinds {
		if of.count > 0 {
			out = append(out, of)
		}
	}
	slices.SortFunc(out, func(a, b *refused) int {
		if order := a.first.Compare(b.first); order != 0 {
			return order
		}
		return strings.Compare(a.key.by+a.key.what+a.key.via+a.key.details, b.key.by+b.key.what+b.key.via+b.key.details)
	})
	return out
}

// forget drops the kinds that have nothing to record and whose allowance is
// full: a new one would be the same.
func (r *Refusals) forget(now time.Time) {
	maps.DeleteFunc(r.kinds, func(key kind, of *refused) bool {
		drop := of.count == 0 && of.quiet(now) && (of.records == nil || of.records.TokensAt(now) >= kindBurst)
		if drop {
			r.group(key).kinds--
		}
		return drop
	})
}
