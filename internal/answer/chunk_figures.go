package answer

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"shardboard/internal/chunksize"
	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// ChunkSizes knows and measures the sizes of single chunks.
type ChunkSizes interface {
	Of(*topology.Collection, topology.Chunk) (chunksize.Size, bool)
	Known(*topology.Collection) map[int]chunksize.Size
	Viewed(*topology.Collection, []int)
	Measure(ctx context.Context, c *topology.Collection, r shardkey.Range, exact bool) (chunksize.Size, error)
	Seq() uint64
}

// ChunkFigures are the sizes and writes of one collection's chunks, as far as
// they are known now. Nothing is asked of the cluster for them.
type ChunkFigures struct {
	T      *topology.Table
	C      *topology.Collection
	past   bool
	known  map[int]chunksize.Size // measured, by position
	counts map[string]int         // chunks by shard
	shares map[string]chunksize.Size
	over   map[string]bool // by shard: whether the estimate of its chunks is too big
	Writes map[int]heat.Rate
	Heated bool           // writes were counted: what is not in writes took none
	AtMost bool           // and not all of them are
	moving map[int]string // by position, the shard to which a migration copies the chunk now
}

func FiguresOf(v View, c *topology.Collection) *ChunkFigures {
	f := &ChunkFigures{T: v.Table, C: c, past: v.Past != nil, counts: c.Chunks.CountByShard(),
		shares: map[string]chunksize.Size{}, over: map[string]bool{}, moving: MovingChunks(v, c)}
	if v.Sizes != nil {
		f.known = v.Sizes.Known(c)
	}
	if v.Writes != nil {
		f.Writes, f.Heated, f.AtMost = v.Writes(v.Table, c.NS)
	}
	return f
}

// Size is what is known of the chunk at a position, measured or estimated.
func (f *ChunkFigures) Size(i int, shard string) chunksize.Size {
	if s, ok := f.known[i]; ok {
		return s
	}
	return f.share(shard)
}

// share is the estimate of every chunk of a shard that was not measured.
func (f *ChunkFigures) share(shard string) chunksize.Size {
	s, ok := f.shares[shard]
	if !ok {
		s = chunksize.ShareOf(f.T, f.C, shard, f.counts[shard])
		f.shares[shard] = s
	}
	return s
}

// oversized tells whether the donor would refuse the chunk, as far as is known.
func (f *ChunkFigures) oversized(i int, shard string) bool {
	if s, ok := f.known[i]; ok {
		return chunksize.Judge(f.T, f.C, shard, s).Oversized(s)
	}
	over, ok := f.over[shard]
	if !ok {
		s := f.share(shard)
		over = chunksize.Judge(f.T, f.C, shard, s).Oversized(s)
		f.over[shard] = over
	}
	return over
}

// measured is how many of some chunks are measured.
func (f *ChunkFigures) measured(hits positionsFound) (n int) {
	if !hits.some && hits.len() == f.C.Chunks.Len() {
		return len(f.known)
	}
	for i := range f.known {
		if hits.has(i) {
			n++
		}
	}
	return n
}

// The orders of a list of chunks.
const (
	ByKey       = ""
	ByBytes     = "bytes"
	ByDocuments = "documents"
	ByHeat      = "heat"
)

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
func (f *ChunkFigures) ranked(hits positionsFound, by string, from, to int) []int {
	blocks := f.blocks(hits, by)
	slices.SortFunc(blocks, func(a, b chunkBlock) int {
		return cmp.Or(cmp.Compare(b.rate, a.rate), cmp.Compare(b.value, a.value), cmp.Compare(min(b.at, 0), min(a.at, 0)),
			cmp.Compare(a.at, b.at), cmp.Compare(a.shard, b.shard))
	})
	out := make([]int, max(to-from, 0))
	type need struct{ skip, put, left int }
	needs := map[string]*need{}
	place := 0
	for _, b := range blocks {
		lo, hi := max(place, from), min(place+b.n, to)
		switch {
		case lo >= hi:
		case b.at >= 0:
			out[lo-from] = b.at
		default:
			needs[b.shard] = &need{skip: lo - place, put: lo - from, left: hi - lo}
		}
		place += b.n
	}
	open := len(needs)
	if open == 0 {
		return out
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
		n := needs[shard]
		if n == nil || n.left == 0 {
			continue
		}
		if n.skip > 0 {
			n.skip--
			continue
		}
		out[n.put] = i
		n.put++
		if n.left--; n.left == 0 {
			if open--; open == 0 {
				break
			}
		}
	}
	return out
}

// singles are the positions of chunks of which something is known alone, in
// order: a million chunks are compared with them one after the other.
func (f *ChunkFigures) singles(by string) []int {
	if by == ByHeat {
		return slices.Sorted(maps.Keys(f.Writes))
	}
	return slices.Sorted(maps.Keys(f.known))
}

func (f *ChunkFigures) blocks(hits positionsFound, by string) []chunkBlock {
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
	left := map[string]int{}
	if !hits.some && hits.len() == f.C.Chunks.Len() {
		for shard, n := range f.counts {
			left[shard] = n
		}
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
