package actions

import (
	"slices"
	"time"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// How a plan's figures were computed, as codes. Topology has more of them.
const (
	methodRouting     = "routing"
	methodShare       = "chunkShare"   // bytes of the shard divided by its chunks
	methodPart        = "chunkPart"    // half of such a chunk, when it is not known how much of it is in the range
	methodProjects    = "projectShare" // such a chunk, divided by the projects in it
	methodSum         = "shareMoved"   // a shard's bytes, with the estimated moves added and subtracted
	methodNothing     = "plan"         // follows from the plan: nothing moves
	reasonNotLoaded   = "notLoaded"
	reasonNotMeasured = "notMeasured" // chunk by chunk
)

// effect computes what the steps change.
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
	speed := d.moveSpeed()
	for _, m := range d.moves {
		e.Chunks.Value += int64(m.chunks)
		b := d.estimate(m.k.c, m.lo, m.hi, bytesOf)
		bytes.add(b)
		n := d.estimate(m.k.c, m.lo, m.hi, documentsOf)
		documents.add(n)
		e.Moves = append(e.Moves, MoveEffect{NS: m.k.c.NS, Min: d.doc(m.k.c, m.lo), Max: d.doc(m.k.c, m.hi), From: m.from, To: m.to,
			Or: m.others, Bytes: b, Documents: n, Duration: speed.time(b, m.chunks, d.s.Now)})
	}
	e.Bytes, e.Documents = bytes.figure(), documents.figure()
	e.Duration = d.duration(e.Bytes)
	e.Shards = d.shardEffects(e.Moves)
	d.addWholes(&e)
	if d.resharded != nil {
		d.reshardEffect(&e)
	}
	return e
}

// sumOf adds figures. If one of them is not known, the sum is not known.
func sumOf(figures ...topology.Figure) topology.Figure {
	var s sum
	for _, f := range figures {
		s.add(f)
	}
	return s.figure()
}

type sum struct {
	value, plusMinus int64
	estimated        bool
	method           string
	at               time.Time
	unknownBecause   string
	any              bool
}

func (s *sum) add(f topology.Figure) {
	if !f.Known {
		s.unknownBecause = f.Reason
		return
	}
	if !s.any || f.At.Before(s.at) {
		s.at = f.At
	}
	s.any = true
	s.value += f.Value
	s.plusMinus += f.PlusMinus
	s.estimated = s.estimated || !f.Exact
	if s.method == "" || f.Method == methodPart || f.Method == methodProjects && s.method != methodPart {
		s.method = f.Method
	}
}

func (s *sum) figure() topology.Figure {
	switch {
	case s.unknownBecause != "":
		return topology.Figure{Reason: s.unknownBecause}
	case !s.any:
		return topology.Figure{Known: true, Exact: true, Method: methodNothing, At: s.at}
	}
	return topology.Figure{Known: true, Value: s.value, PlusMinus: s.plusMinus, Exact: !s.estimated, Method: s.method, At: s.at}
}

// shardEffects returns each shard before and after, over all changed collections:
// first the shards that change, then the others, by name.
func (d *draftBuilder) shardEffects(moves []MoveEffect) []ShardEffect {
	all := map[string]*ShardEffect{}
	effectOn := func(shard string) *ShardEffect {
		if all[shard] == nil {
			all[shard] = &ShardEffect{Shard: shard}
		}
		return all[shard]
	}
	before := map[string][]topology.Figure{}
	for _, k := range d.changedCollections() {
		for shard, n := range k.counts() {
			e := effectOn(shard)
			e.ChunksBefore += n[0]
			e.ChunksAfter += n[1]
		}
	}
	for _, k := range d.changedCollections() {
		for shard := range all {
			before[shard] = append(before[shard], d.s.Table.SizeOn(k.c.NS, shard).Bytes)
		}
	}
	for shard, e := range all {
		e.BytesBefore = sumOf(before[shard]...)
		e.BytesAfter = e.BytesBefore
		for _, m := range moves {
			if m.From == shard || m.To == shard {
				e.BytesAfter = withMoved(e.BytesAfter, m.Bytes, m.To == shard)
			}
		}
	}
	out := make([]ShardEffect, 0, len(all))
	for _, e := range all {
		out = append(out, *e)
	}
	unchanged := func(e ShardEffect) int {
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
		if x := unchanged(a) - unchanged(b); x != 0 {
			return x
		}
		return natural.Compare(a.Shard, b.Shard)
	})
	return out
}

// withMoved is a shard's bytes after a range has arrived there or left.
func withMoved(have, moved topology.Figure, gains bool) topology.Figure {
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

// reshardEffect is the effect of a resharding: every document is copied, at the speed at
// which migrations copy, by all recipients at the same time.
func (d *draftBuilder) reshardEffect(e *Effect) {
	c := d.resharded
	e.Bytes, e.Documents = d.sizeOf(c, bytesOf), d.sizeOf(c, documentsOf)
	e.Chunks = topology.Figure{Known: true, Exact: true, Value: int64(c.Chunks.Len()), Method: methodRouting,
		At: d.s.Table.Health[topology.PartRouting].At}
	e.Duration = d.reshardTime(d.moveSpeed().time(e.Bytes, 0, d.s.Now), 1)
}
