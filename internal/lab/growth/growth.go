// Package growth predicts what a cluster does when shards are added or emptied and its data grows: which
// chunks move where, in which groups, how long that takes, how much space each shard has meanwhile, and
// what it looks like in the end. It computes over what it is given and reads nothing. The caller says how
// exact its sizes are; a prediction is never more exact than they.
package growth

import (
	"fmt"
	"math"
	"time"
)

// Shard is a shard as it is before the plan.
type Shard struct {
	Name     string
	Capacity int64 // bytes that data may take; 0 when not known
	Other    int64 // bytes that no move of a chunk takes away, as of collections that are not sharded
	Grows    int64 // bytes that come to Other with the growth, beside what all data grows by
	Added    bool  // it joins with the plan and has nothing yet
	Emptied  bool  // the plan moves all its chunks away
}

// Chunk is one chunk, or a range that moves as one.
type Chunk struct {
	Shard int   // index of the shard that owns it
	Bytes int64 // size of its documents
	Stays bool  // it cannot be moved, as a jumbo chunk
	Zone  int   // index of its zone + 1; 0 without zone
	Grows int64 // bytes that come to it with the growth, beside what all data grows by: those of one project that grows
}

// Collection has its chunks in the order of their keys.
type Collection struct {
	NS     string
	Chunks []Chunk
}

// Measure is what is to be even between shards, for each collection apart, as the balancer has it.
type Measure string

// The balancer compares numbers of chunks before MongoDB 6.0 (6.0.3), and bytes since.
const (
	ByChunks Measure = "chunks"
	ByBytes  Measure = "bytes"
)

// Input is what a plan is computed from. Everything in it is shown with the plan and can be changed.
type Input struct {
	Shards      []Shard
	Collections []Collection
	Zones       [][]int // shards of each zone, by index
	Measure     Measure
	Pace        Pace
	Group       int     // moves before a pause; 0 for all in one group
	Growth      float64 // by how much the data grows afterwards, as a share of today's: 1.5 for 1.5 times more
}

// Pace is how fast chunks move.
type Pace struct {
	BytesPerSecond int64         // of one move
	Overhead       time.Duration // of each move, whatever its size
	PerShard       int           // moves that a shard takes part in at a time; MongoDB has 1
	Cleanup        time.Duration // after which the source deletes what has moved away; MongoDB waits 15 minutes
	Pause          time.Duration // between groups
}

// Move is one move of a chunk.
type Move struct {
	Collection, Chunk int // indexes into the input
	From, To          int // indexes of shards
	Bytes             int64
	Group             int           // from 0
	Start, End        time.Duration // since the first move
}

// Group is a part of the plan after which it can be paused, compared and gone back on.
type Group struct {
	First, Moves int // moves of the plan
	Bytes        int64
	Start, End   time.Duration
	Fullest      int   // index of the shard that had the largest share of its capacity in use; -1 if no capacity is known
	Used         int64 // most bytes that the fullest shard had during the group, with what waits for deletion
}

// Usage is what a shard has.
type Usage struct {
	Bytes  int64
	Chunks int
}

// Plan is what happens.
type Plan struct {
	Moves         []Move
	Groups        []Group
	Before, After []Usage // by shard
	Grown         []Usage // after the growth; its chunks are not counted anew
	Peak          []int64 // most bytes that each shard has at any time, with what waits for deletion
	Bytes         int64   // that move
	Duration      time.Duration
	Stay          []Stay // what cannot leave a shard that should not have it
	Ranges        int    // runs of neighbouring chunks that move to the same shard: as many zone ranges pin the same placement
}

// Stay is a chunk that stays although its shard is to be emptied or is not of its zone.
type Stay struct{ Collection, Chunk int }

// Limits of an input.
const (
	MostShards = 1024
	MostChunks = 20_000_000
	MostGrowth = 1000
)

// Check refuses an input that cannot be computed: one sentence, with the field and its limit.
func (in *Input) Check() error {
	if len(in.Shards) == 0 || len(in.Shards) > MostShards {
		return fmt.Errorf("shards: there are %d, expected 1 to %d", len(in.Shards), MostShards)
	}
	kept := 0
	for _, s := range in.Shards {
		if s.Capacity < 0 || s.Other < 0 || s.Grows < 0 {
			return fmt.Errorf("shards: %s has a negative size", s.Name)
		}
		if !s.Emptied {
			kept++
		}
	}
	if kept == 0 {
		return fmt.Errorf("shards: all of them are to be emptied, so no shard is left for the data")
	}
	chunks := 0
	for _, c := range in.Collections {
		chunks += len(c.Chunks)
		for i, k := range c.Chunks {
			if k.Shard < 0 || k.Shard >= len(in.Shards) || k.Bytes < 0 || k.Grows < 0 || k.Zone < 0 || k.Zone > len(in.Zones) {
				return fmt.Errorf("collections: chunk %d of %s has no such shard, size or zone", i+1, c.NS)
			}
		}
	}
	if chunks > MostChunks {
		return fmt.Errorf("collections: there are %d chunks, at most %d can be planned", chunks, MostChunks)
	}
	for _, zone := range in.Zones {
		for _, s := range zone {
			if s < 0 || s >= len(in.Shards) {
				return fmt.Errorf("zones: a zone has a shard that does not exist")
			}
		}
	}
	switch p := in.Pace; {
	case in.Measure != ByBytes && in.Measure != ByChunks:
		return fmt.Errorf("measure: it is %q, expected %s or %s", in.Measure, ByBytes, ByChunks)
	case p.BytesPerSecond <= 0:
		return fmt.Errorf("rate: it is %d bytes a second, expected more than 0", p.BytesPerSecond)
	case p.PerShard < 1 || p.PerShard > 64:
		return fmt.Errorf("perShard: it is %d, expected 1 to 64 moves at a time", p.PerShard)
	case p.Overhead < 0 || p.Cleanup < 0 || p.Pause < 0:
		return fmt.Errorf("pace: times cannot be negative")
	case in.Group < 0:
		return fmt.Errorf("group: it is %d, expected 0 or more moves", in.Group)
	case math.IsNaN(in.Growth) || in.Growth < 0 || in.Growth > MostGrowth:
		return fmt.Errorf("growth: it is %g, expected 0 to %d times the data", in.Growth, MostGrowth)
	}
	return nil
}

// Compute makes the plan of an input. It takes time in proportion to the chunks, and to the shards for each move.
func Compute(in *Input) (*Plan, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	p := place(in)
	p.order(in)
	p.schedule(in)
	return p, nil
}

// place chooses the moves, in no order, and what each shard has because of them.
func place(in *Input) *Plan {
	p := &Plan{Before: usage(in, nil)}
	p.distribute(in)
	p.After = usage(in, p.Moves)
	p.Grown = grown(in, p)
	return p
}

// grown is what each shard has after the growth.
func grown(in *Input, p *Plan) []Usage {
	out := make([]Usage, len(p.After))
	for i, u := range p.After {
		out[i] = Usage{Bytes: u.Bytes + int64(math.Round(float64(u.Bytes)*in.Growth)) + in.Shards[i].Grows, Chunks: u.Chunks}
	}
	for _, c := range in.Collections {
		for _, k := range c.Chunks {
			out[k.Shard].Bytes += k.Grows
		}
	}
	for _, m := range p.Moves {
		grows := in.Collections[m.Collection].Chunks[m.Chunk].Grows
		out[m.From].Bytes -= grows
		out[m.To].Bytes += grows
	}
	return out
}

// Grows reports whether any data grows after the plan.
func (in *Input) Grows() bool {
	if in.Growth > 0 {
		return true
	}
	for _, s := range in.Shards {
		if s.Grows > 0 {
			return true
		}
	}
	for _, c := range in.Collections {
		for _, k := range c.Chunks {
			if k.Grows > 0 {
				return true
			}
		}
	}
	return false
}

// usage is what each shard has after some moves.
func usage(in *Input, moves []Move) []Usage {
	out := make([]Usage, len(in.Shards))
	for i, s := range in.Shards {
		out[i].Bytes = s.Other
	}
	for _, c := range in.Collections {
		for _, k := range c.Chunks {
			out[k.Shard].Bytes += k.Bytes
			out[k.Shard].Chunks++
		}
	}
	for _, m := range moves {
		out[m.From].Bytes -= m.Bytes
		out[m.From].Chunks--
		out[m.To].Bytes += m.Bytes
		out[m.To].Chunks++
	}
	return out
}
