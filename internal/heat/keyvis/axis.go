package keyvis

import (
	"maps"
	"slices"
	"sort"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// axis is the rows of key columns: each reaches from its bound to the next,
// the last to the end of all keys. Immutable.
type axis struct {
	id     int64
	bounds []shardkey.Key
	saved  bool // only under the recorder's lock
}

// row is the one that holds a key.
func (a *axis) row(k shardkey.Key) int {
	return max(0, sort.Search(len(a.bounds), func(i int) bool { return a.bounds[i].Compare(k) > 0 })-1)
}

// span is the rows [from, to) of a that row i of o meets.
func (a *axis) span(o *axis, i int) (from, to int) {
	from = a.row(o.bounds[i])
	if i+1 == len(o.bounds) {
		return from, len(a.bounds)
	}
	end := o.bounds[i+1]
	to = a.row(end)
	if a.bounds[to].Compare(end) < 0 {
		to++
	}
	return from, max(to, from+1)
}

func sameBounds(a, b []shardkey.Key) bool {
	return slices.EqualFunc(a, b, func(x, y shardkey.Key) bool { return x.Compare(y) == 0 })
}

// rowsOf chooses the rows for a chunk table: one per chunk while there are few.
// Otherwise bounds that were rows stay rows, chunks that took more than their
// part lately get a row of their own, and of the others those neighbours are
// merged that took least.
func rowsOf(chunks *topology.ChunkMap, was *axis, lately map[shardkey.Key]int64) []shardkey.Key {
	n := chunks.Len()
	positions := map[int]bool{0: true}
	switch {
	case n <= MaxRows:
		out := make([]shardkey.Key, 0, n)
		for _, c := range chunks.All() {
			out = append(out, c.Min)
		}
		return out
	case was != nil && len(was.bounds) > MaxRows/2:
		for _, b := range was.bounds {
			if i, c := chunks.Find(b); c.Min.Compare(b) == 0 {
				positions[i] = true
			}
		}
	default:
		const even = MaxRows * 2 / 3 // leaves room for hot chunks
		for r := range even {
			positions[n*r/even] = true
		}
	}
	heat, total := map[int]int64{}, int64(0)
	for k, rows := range lately {
		i, _ := chunks.Find(k)
		heat[i] += rows
		total += rows
	}
	for i, rows := range heat {
		if rows*MaxRows > 2*total {
			positions[i] = true
			if i+1 < n {
				positions[i+1] = true
			}
		}
	}
	kept := coldestMerged(slices.Sorted(maps.Keys(positions)), n, heat)
	out := make([]shardkey.Key, len(kept))
	for i, at := range kept {
		out[i] = chunks.At(at).Min
	}
	return out
}

// coldestMerged takes away bounds, given as positions of chunks, until MaxRows
// are left: each time the two neighbours become one that took least together
// and, of equal ones, that are fewest chunks.
func coldestMerged(starts []int, n int, heat map[int]int64) []int {
	type row struct {
		start, chunks int
		rows          int64
	}
	rows := make([]row, len(starts))
	for i, s := range starts {
		rows[i] = row{start: s, chunks: n - s}
		if i > 0 {
			rows[i-1].chunks = s - rows[i-1].start
		}
	}
	for at, taken := range heat {
		rows[sort.SearchInts(starts, at+1)-1].rows += taken
	}
	for len(rows) > MaxRows {
		best := 0
		for i := range len(rows) - 1 {
			a, b := rows[i].rows+rows[i+1].rows, rows[best].rows+rows[best+1].rows
			if a < b || a == b && rows[i].chunks+rows[i+1].chunks < rows[best].chunks+rows[best+1].chunks {
				best = i
			}
		}
		rows[best].rows += rows[best+1].rows
		rows[best].chunks += rows[best+1].chunks
		rows = slices.Delete(rows, best+1, best+2)
	}
	out := make([]int, len(rows))
	for i, r := range rows {
		out[i] = r.start
	}
	return out
}
