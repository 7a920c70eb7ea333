package keyvis

import (
	"maps"
	"slices"
	"sort"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// axis is the rows of key columns: each row ranges from its bound to the next, the last one to the
// end of the key space. Immutable.
type axis struct {
	id     int64
	bounds []shardkey.Key
	saved  bool // guarded by the recorder's lock
}

// row is the row that contains a key.
func (a *axis) row(k shardkey.Key) int {
	return max(0, sort.Search(len(a.bounds), func(i int) bool { return a.bounds[i].Compare(k) > 0 })-1)
}

// span is the rows [from, to) of a that overlap row i of o.
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

// chooseRows chooses the rows for a chunk table: one per chunk while there are few. Otherwise
// earlier row bounds are kept, chunks with more than their share of recent writes get their own
// row, and the neighbours with the fewest writes are merged.
func chooseRows(chunks *topology.ChunkMap, was *axis, lately map[shardkey.Key]int64) []shardkey.Key {
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
	kept := mergeColdest(slices.Sorted(maps.Keys(positions)), n, heat)
	out := make([]shardkey.Key, len(kept))
	for i, at := range kept {
		out[i] = chunks.At(at).Min
	}
	return out
}

// mergeColdest removes bounds, given as chunk positions, until MaxRows are left: each time it
// merges the two neighbours with the fewest writes, and of equal ones those with the fewest chunks.
func mergeColdest(starts []int, n int, heat map[int]int64) []int {
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
