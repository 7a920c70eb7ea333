package actions

import (
	"slices"
	"strings"
	"time"

	"shardboard/internal/topology"
)

// The methods of figures that plans make (catalogue codes beside topology's).
const (
	methodRouting   = "routing"
	methodShare     = "chunkShare"   // bytes of the shard divided by its chunks
	methodPart      = "chunkPart"    // half of such a chunk: how much of it is in the range is not known
	methodProjects  = "projectShare" // as many of the chunk's share as of its projects
	methodSum       = "shareMoved"   // a shard's bytes with estimates taken off or added
	methodNothing   = "plan"         // it follows from the plan: nothing moves
	reasonNotLoaded = "notLoaded"
)

// effect is what the steps change.
func (d *draftBuilder) effect() Effect {
	e := Effect{
		Chunks: topology.Figure{
			Known:  true,
			Exact:  true,
			Method: methodRouting,
			Value:  int64(d.cuts),
			At:     d.s.Table.Health[topology.PartRouting].At,
		},
		Stays:  d.stays,
		Writes: d.writes,
	}
	var bytes, documents sum
	bytes.at, documents.at = d.s.Now, d.s.Now
	rate, method := d.copyRate()
	for _, m := range d.moves {
		e.Chunks.Value += int64(m.chunks)
		b := d.estimate(m.k.c, m.lo, m.hi, bytesOf)
		bytes.add(b)
		n := d.estimate(m.k.c, m.lo, m.hi, documentsOf)
		documents.add(n)
		e.Moves = append(e.Moves, MoveEffect{NS: m.k.c.NS, Min: d.doc(m.k.c, m.lo), Max: d.doc(m.k.c, m.hi), From: m.from, To: m.to, Bytes: b,
			Documents: n, Duration: moveTime(b, m.chunks, rate, method, d.s.Now)})
	}
	e.Bytes, e.Documents = bytes.figure(), documents.figure()
	e.Duration = d.duration(e.Bytes)
	e.Shards = d.shardEffects(e.Moves)
	return e
}

// sumOf adds figures; one that is not known makes the sum not known.
func sumOf(figures ...topology.Figure) topology.Figure {
	var s sum
	for _, f := range figures {
		s.add(f)
	}
	return s.figure()
}

type sum struct {
	n, plusMinus int64
	loose        bool
	method       string
	at           time.Time
	missing      string
	some         bool
}

func (s *sum) add(f topology.Figure) {
	if !f.Known {
		s.missing = f.Reason
		return
	}
	if !s.some || f.At.Before(s.at) {
		s.at = f.At
	}
	s.some = true
	s.n += f.Value
	s.plusMinus += f.PlusMinus
	s.loose = s.loose || !f.Exact
	if s.method == "" || f.Method == methodPart || f.Method == methodProjects && s.method != methodPart {
		s.method = f.Method
	}
}

func (s *sum) figure() topology.Figure {
	switch {
	case s.missing != "":
		return topology.Figure{Reason: s.missing}
	case !s.some:
		return topology.Figure{Known: true, Exact: true, Method: methodNothing, At: s.at}
	}
	return topology.Figure{Known: true, Value: s.n, PlusMinus: s.plusMinus, Exact: !s.loose, Method: s.method, At: s.at}
}

// shardEffects are the shards before and after over the collections concerned:
// those that change first, then by name.
func (d *draftBuilder) shardEffects(moves []MoveEffect) []ShardEffect {
	all := map[string]*ShardEffect{}
	get := func(shard string) *ShardEffect {
		if all[shard] == nil {
			all[shard] = &ShardEffect{Shard: shard}
		}
		return all[shard]
	}
	before := map[string][]topology.Figure{}
	for _, k := range d.touched() {
		for shard, n := range k.counts() {
			e := get(shard)
			e.ChunksBefore += n[0]
			e.ChunksAfter += n[1]
		}
	}
	for _, k := range d.touched() {
		for shard := range all {
			before[shard] = append(before[shard], d.s.Table.SizeOn(k.c.NS, shard).Bytes)
		}
	}
	for shard, e := range all {
		e.BytesBefore = sumOf(before[shard]...)
		e.BytesAfter = e.BytesBefore
		for _, m := range moves {
			if m.From == shard || m.To == shard {
				e.BytesAfter = shifted(e.BytesAfter, m.Bytes, m.To == shard)
			}
		}
	}
	out := make([]ShardEffect, 0, len(all))
	for _, e := range all {
		out = append(out, *e)
	}
	same := func(e ShardEffect) int {
		for _, m := range moves {
			if m.From == e.Shard || m.To == e.Shard {
				return 0
			}
		}
		if e.ChunksBefore != e.ChunksAfter {
			return 0
		}
		return 1
	}
	slices.SortFunc(out, func(a, b ShardEffect) int {
		if x := same(a) - same(b); x != 0 {
			return x
		}
		return strings.Compare(a.Shard, b.Shard)
	})
	return out
}

// shifted is a shard's bytes with a range added or taken off.
func shifted(have, moved topology.Figure, gains bool) topology.Figure {
	switch {
	case !have.Known:
		return have
	case !moved.Known:
		return moved
	}
	have.Exact, have.Method, have.PlusMinus = false, methodSum, have.PlusMinus+moved.PlusMinus
	if gains {
		have.Value += moved.Value
	} else {
		have.Value = max(0, have.Value-moved.Value)
	}
	return have
}
