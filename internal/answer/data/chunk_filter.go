package data

import (
	"iter"
	"slices"
	"strings"

	"shardboard/internal/topology"
)

// chunkFilter picks some of a collection's chunks; the zero value takes all.
type chunkFilter struct {
	Shard, Zone string
	Text        string // part of a bound as shown
	Jumbo       *bool
	Oversized   *bool // too big to move, as far as is known
}

func (q chunkFilter) takesAll() bool { return q == chunkFilter{} }

// textScan bounds how many chunks one text search looks at: each bound has to
// be written out to be compared.
const textScan = 100_000

// find picks chunks of a span; complete is false when a text search looked at the
// first of them only.
func (q chunkFilter) find(rows chunkRows, span positionsFound) (found positionsFound, complete bool) {
	if q.takesAll() {
		return span, true
	}
	found = positionsFound{some: true}
	for i, owner := range span.each(rows.c) {
		if q.Text != "" && i-span.from > textScan {
			return found, false
		}
		if q.takes(rows, i, owner) {
			found.picked = append(found.picked, i)
		}
	}
	return found, true
}

// takes asks what costs least first.
func (q chunkFilter) takes(rows chunkRows, i int, owner string) bool {
	if q.Shard != "" && owner != q.Shard || q.Oversized != nil && rows.f.oversized(i, owner) != *q.Oversized {
		return false
	}
	if q.Zone != "" {
		if zone, _ := rows.v.Table.ZoneOf(rows.c, i); zone != q.Zone {
			return false
		}
	}
	if q.Text == "" && q.Jumbo == nil {
		return true
	}
	key, ch := rows.c.Key, rows.c.Chunks.At(i)
	if q.Jumbo != nil && ch.Jumbo != *q.Jumbo {
		return false
	}
	return q.Text == "" || strings.Contains(key.Display(ch.Min), q.Text) || strings.Contains(key.Display(ch.Max), q.Text)
}

// positionsFound are chunk positions: a plain range, or a list when a filter
// has picked some of it.
type positionsFound struct {
	from, to int
	picked   []int
	some     bool
}

func (p positionsFound) len() int {
	if p.some {
		return len(p.picked)
	}
	return p.to - p.from
}

func (p positionsFound) at(n int) int {
	if p.some {
		return p.picked[n]
	}
	return p.from + n
}

// has tells whether a position is among those found.
func (p positionsFound) has(i int) bool {
	if p.some {
		_, ok := slices.BinarySearch(p.picked, i)
		return ok
	}
	return p.from <= i && i < p.to
}

// each yields the positions found and their owners, in key order.
func (p positionsFound) each(c *topology.Collection) iter.Seq2[int, string] {
	if !p.some && p.from == 0 && p.to == c.Chunks.Len() {
		return c.Chunks.Owners()
	}
	return func(yield func(int, string) bool) {
		for n := range p.len() {
			if i := p.at(n); !yield(i, c.Chunks.Owner(i)) {
				return
			}
		}
	}
}
