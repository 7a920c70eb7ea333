package actions

import (
	"cmp"
	"slices"
	"time"

	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Flags says whether the jumbo flags of a plan's chunks were read for the plan. Setting
// or clearing a flag does not change the version of a chunk, so flags in a table may be
// minutes older than the rest of it.
type Flags struct {
	At     time.Time // when all of them were read; zero: not read
	Reason string    // code when they were not read: "notPermitted", "unreachable", "tooMany"
}

// Span is a range of a collection.
type Span struct {
	NS       topology.Namespace
	Min, Max shardkey.Key
}

// FlagRead is one read of neighbouring chunks: Limit chunks from a bound on.
type FlagRead struct {
	C     *topology.Collection
	From  shardkey.Key
	Limit int
}

// Limits for reading the flags of one plan.
const (
	flagReads  = 16   // reads
	flagChunks = 2000 // chunks in all reads together
	flagGap    = 100  // unneeded chunks in between that are read to save one read
)

// FlagReads returns the reads for the flags of spans. all is false when the limits allow
// only some of them.
func FlagReads(t *topology.Table, spans []Span) (reads []FlagRead, all bool) {
	type run struct {
		c        *topology.Collection
		from, to int
	}
	var runs []run
	for _, s := range spans {
		c := t.Collection(s.NS)
		if c == nil {
			continue
		}
		if from, to := c.Chunks.Overlap(shardkey.Range{Min: s.Min, Max: s.Max}); from < to {
			runs = append(runs, run{c, from, to})
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Or(natural.Compare(a.c.NS, b.c.NS), cmp.Compare(a.from, b.from)) })
	var joined []run
	for _, r := range runs {
		if n := len(joined); n > 0 && joined[n-1].c == r.c && r.from <= joined[n-1].to+flagGap {
			joined[n-1].to = max(joined[n-1].to, r.to)
			continue
		}
		joined = append(joined, r)
	}
	left := flagChunks
	for _, r := range joined {
		if left == 0 || len(reads) == flagReads {
			return reads, false
		}
		n := min(r.to-r.from, left)
		reads = append(reads, FlagRead{C: r.c, From: r.c.Chunks.At(r.from).Min, Limit: n})
		if left -= n; n < r.to-r.from {
			return reads, false
		}
	}
	return reads, true
}
