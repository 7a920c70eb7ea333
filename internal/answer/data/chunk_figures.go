package data

import (
	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/chunksize"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// chunkFigures are the sizes and writes of one collection's chunks, as far as
// they are known now. Nothing is asked of the cluster for them.
type chunkFigures struct {
	T      *topology.Table
	C      *topology.Collection
	past   bool
	known  map[int]chunksize.Size // measured, by position
	counts map[string]int         // chunks by shard
	shares map[string]chunksize.Size
	over   map[string]bool // by shard: whether the estimate of its chunks is too big
	Writes map[int]heat.Rate
	Heated bool           // writes were counted: a chunk that is not in Writes took none
	AtMost bool           // only some of the writes were counted, so such a chunk's rate is not known
	moving map[int]string // by position, the shard to which a migration copies the chunk now
}

// FiguresOf gathers what is known of a collection's chunks now.
func FiguresOf(v answer.View, c *topology.Collection) *chunkFigures {
	f := &chunkFigures{T: v.Table, C: c, past: v.Past != nil, counts: c.Chunks.CountByShard(),
		shares: map[string]chunksize.Size{}, over: map[string]bool{}, moving: logbook.MovingChunks(v, c)}
	if v.Sizes != nil {
		f.known = v.Sizes.Known(c)
	}
	if v.Writes != nil {
		f.Writes, f.Heated, f.AtMost = v.Writes(v.Table, c.NS)
	}
	return f
}

// Size is what is known of the chunk at a position, measured or estimated.
func (f *chunkFigures) Size(i int, shard string) chunksize.Size {
	if s, ok := f.known[i]; ok {
		return s
	}
	return f.share(shard)
}

// share is the estimate of every chunk of a shard that was not measured.
func (f *chunkFigures) share(shard string) chunksize.Size {
	s, ok := f.shares[shard]
	if !ok {
		s = chunksize.ShareOf(f.T, f.C, shard, f.counts[shard])
		f.shares[shard] = s
	}
	return s
}

// oversized tells whether the donor would refuse the chunk, as far as is known.
func (f *chunkFigures) oversized(i int, shard string) bool {
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
func (f *chunkFigures) measured(hits positionsFound) (n int) {
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

// SizeInto fills a list's row with documents, bytes and writes.
func (f *chunkFigures) SizeInto(row *api.Chunk, i int) {
	s := f.Size(i, row.Shard)
	row.Documents, row.Bytes, row.Measured = answer.FigureOf(s.Documents), answer.FigureOf(s.Bytes), s.Measured
	if j := chunksize.Judge(f.T, f.C, row.Shard, s); j.State != chunksize.Unknown {
		over := j.Oversized(s)
		row.Oversized, row.NearLimit = &over, j.State == chunksize.Near && !over
	}
	if !f.Heated {
		return
	}
	r, ok := f.Writes[i]
	if !ok && f.AtMost {
		return // of this method, not counted is not none
	}
	row.WritesPerSecond, row.WritesExact = &r.PerSecond, !ok || r.Exact
}
