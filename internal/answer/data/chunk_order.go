package data

import (
	"cmp"
	"maps"
	"slices"

	"shardboard/internal/chunksize"
)

// The orders of a list of chunks.
const (
	ByKey       = ""
	ByBytes     = "bytes"
	ByDocuments = "documents"
	ByHeat      = "heat"
)

// ChunkOrders are all of them.
var ChunkOrders = []string{ByKey, ByBytes, ByDocuments, ByHeat}

// chunkBlock is chunks that stand together in an order: a single one that was
// measured, or all of a shard that were not and have the same estimate.
type chunkBlock struct {
	value int64 // to sort by, largest first; negative: not known
	rate  float64
	at    int // the position of a single one; -1 for a group
	shard string
	n     int
}

// ranked are the positions at [from, to) of the hits in an order, largest first.
// It sorts what is known of single chunks and the shards' estimates, never all
// chunks: those that were not measured follow each other by key within the place
// of their shard's estimate.
func (f *chunkFigures) ranked(hits positionsFound, by string, from, to int) []int {
	blocks := f.blocks(hits, by)
	slices.SortFunc(blocks, func(a, b chunkBlock) int {
		return cmp.Or(cmp.Compare(b.rate, a.rate), cmp.Compare(b.value, a.value), cmp.Compare(min(b.at, 0), min(a.at, 0)),
			cmp.Compare(a.at, b.at), cmp.Compare(a.shard, b.shard))
	})
	out := make([]int, max(to-from, 0))
	groups := map[string]*groupRows{}
	place := 0
	for _, b := range blocks {
		lo, hi := max(place, from), min(place+b.n, to)
		switch {
		case lo >= hi:
		case b.at >= 0:
			out[lo-from] = b.at
		default:
			groups[b.shard] = &groupRows{skip: lo - place, next: lo - from, left: hi - lo}
		}
		place += b.n
	}
	f.fillGroups(out, groups, hits, by)
	return out
}

// groupRows are the rows of a page that chunks of one group take.
type groupRows struct {
	skip int // chunks of the group on pages before
	next int // the next row to fill
	left int // rows to fill
}

// fillGroups writes the positions of the chunks of groups into their rows, in key order.
func (f *chunkFigures) fillGroups(rows []int, groups map[string]*groupRows, hits positionsFound, by string) {
	open := len(groups)
	if open == 0 {
		return
	}
	singles := f.singles(by)
	for i, shard := range hits.each(f.C) {
		for len(singles) > 0 && singles[0] < i {
			singles = singles[1:]
		}
		if len(singles) > 0 && singles[0] == i {
			continue
		}
		if by == ByHeat {
			shard = ""
		}
		g := groups[shard]
		switch {
		case g == nil || g.left == 0:
		case g.skip > 0:
			g.skip--
		default:
			rows[g.next] = i
			g.next++
			if g.left--; g.left == 0 {
				open--
			}
		}
		if open == 0 {
			return
		}
	}
}

// singles are the positions of chunks of which something is known alone, in
// order: a million chunks are compared with them one after the other.
func (f *chunkFigures) singles(by string) []int {
	if by == ByHeat {
		return slices.Sorted(maps.Keys(f.Writes))
	}
	return slices.Sorted(maps.Keys(f.known))
}

// blocks are what is ordered: every chunk of which something is known alone, and for each
// shard all others.
func (f *chunkFigures) blocks(hits positionsFound, by string) []chunkBlock {
	if by == ByHeat {
		rest := chunkBlock{at: -1, n: hits.len()}
		out := make([]chunkBlock, 0, len(f.Writes)+1)
		for i, r := range f.Writes {
			if hits.has(i) {
				out = append(out, chunkBlock{rate: r.PerSecond, at: i, n: 1})
				rest.n--
			}
		}
		return append(out, rest)
	}
	of := func(s chunksize.Size) int64 {
		g := s.Bytes
		if by == ByDocuments {
			g = s.Documents
		}
		if !g.Known {
			return -1
		}
		return g.Value
	}
	left := map[string]int{} // by shard, chunks of which nothing is known alone
	if !hits.some && hits.len() == f.C.Chunks.Len() {
		left = maps.Clone(f.counts)
	} else {
		for _, shard := range hits.each(f.C) {
			left[shard]++
		}
	}
	out := make([]chunkBlock, 0, len(f.known)+len(left))
	for i, s := range f.known {
		if hits.has(i) {
			out = append(out, chunkBlock{value: of(s), at: i, n: 1})
			left[f.C.Chunks.Owner(i)]--
		}
	}
	for shard, n := range left {
		if n > 0 {
			out = append(out, chunkBlock{value: of(f.share(shard)), at: -1, shard: shard, n: n})
		}
	}
	return out
}

// page is the positions of the rows [from, to) of a list.
func (f *chunkFigures) page(hits positionsFound, by string, from, to int) []int {
	if by != ByKey {
		return f.ranked(hits, by, from, to)
	}
	out := make([]int, 0, max(to-from, 0))
	for n := from; n < to; n++ {
		out = append(out, hits.at(n))
	}
	return out
}
