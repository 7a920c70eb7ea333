package actions

import (
	"strconv"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// chunkFact is what a command on this chunk relies on.
func (d *draftBuilder) chunkFact(k *futureChunks, p futureChunk) Fact {
	return chunkIs(k.c.NS, d.doc(k.c, p.Min), d.doc(k.c, p.Max), k.wants(p))
}

// splitAt cuts at a key; nothing when a chunk begins there already.
func (d *draftBuilder) splitAt(k *futureChunks, at shardkey.Key) {
	if len(d.steps) > most {
		return // as in move
	}
	p := k.at(at)
	raw := d.doc(k.c, at)
	need := d.chunkFact(k, p)
	if !k.cut(at) {
		return
	}
	d.cuts++
	d.step(Step{Op: OpSplitAt, NS: k.c.NS, At: raw,
		Needs: []Fact{sameCollection(k.c), need},
		Proof: []Fact{edgeAt(k.c.NS, raw, true)}})
}

// splitMedian cuts a chunk where only the server knows. That it is cut shows in
// that its range is filled by chunks of which none is the old one.
func (d *draftBuilder) splitMedian(k *futureChunks, p futureChunk) {
	lo, hi := d.doc(k.c, p.Min), d.doc(k.c, p.Max)
	d.cuts++
	d.step(Step{Op: OpSplitMedian, NS: k.c.NS, Min: lo, Max: hi,
		Needs: []Fact{sameCollection(k.c), d.chunkFact(k, p)},
		Proof: []Fact{
			chunkIs(k.c.NS, lo, hi, map[string]string{"exists": "false"}),
			{Kind: FactCover, NS: k.c.NS, Min: lo, Max: hi, Want: map[string]string{"edges": "true"}},
		}})
	k.delta[p.Shard]++
}

// move brings what one chunk has of [lo, hi) to a shard. From 6.0 on a part is
// cut out by the move itself; before, it is cut first.
func (d *draftBuilder) move(k *futureChunks, lo, hi shardkey.Key, to string) {
	d.moveOff(k, lo, hi, to, "")
}

// moveOff is move for a range that has to leave one shard and may be anywhere
// else; off "" when it has to be on the recipient.
func (d *draftBuilder) moveOff(k *futureChunks, lo, hi shardkey.Key, to, off string) {
	if len(d.steps) > most {
		return // blocked for that; what more there would be is of no interest
	}
	d.look(k.c, lo, hi)
	ranges := d.s.Release.AtLeast(6, 0, 0)
	if !ranges {
		d.splitAt(k, lo)
		if p := k.at(lo); p.Max.Compare(hi) > 0 {
			d.splitAt(k, hi)
		}
	}
	p := k.at(lo)
	if p.Shard == to {
		return
	}
	s := Step{Op: OpMove, NS: k.c.NS, Min: d.doc(k.c, lo), Max: d.doc(k.c, hi), Shard: to, Force: d.a.Force}
	if ranges {
		s.Op = OpMoveRange
	}
	from := d.chunkFact(k, p)
	if !p.made { // a cut takes the flag off
		from.Want["jumbo"] = strconv.FormatBool(p.Jumbo)
	}
	s.Needs = append([]Fact{sameCollection(k.c), from, takes(to)}, d.zoneFacts(k.c, lo, hi, to)...)
	s.Proof = []Fact{coveredBy(k.c.NS, s.Min, s.Max, to)}
	if off != "" {
		s.Goal = []Fact{noneOn(k.c.NS, s.Min, s.Max, off)}
	}
	d.step(s)
	d.moves = append(d.moves, transfer{k: k, lo: lo, hi: hi, from: p.Shard, to: to, chunks: 1, jumbo: p.Jumbo})
	k.cut(lo)
	if k.at(lo).Max.Compare(hi) > 0 {
		k.cut(hi)
	}
	k.put(lo, hi, to)
}

// zoneFacts are the zone rows that let the range be on the shard.
func (d *draftBuilder) zoneFacts(c *topology.Collection, lo, hi shardkey.Key, shard string) []Fact {
	if !d.zonesRead() {
		return nil
	}
	met := meeting(d.ranges(c.NS), lo, hi)
	if len(met) == 1 && met[0].Min.Compare(lo) <= 0 && met[0].Max.Compare(hi) >= 0 {
		return []Fact{rangeIs(c.NS, met[0].RawMin, met[0].RawMax, met[0].Zone), member(shard, met[0].Zone, d.carries(shard, met[0].Zone))}
	}
	return []Fact{zoneRanges(c.NS, d.doc(c, lo), d.doc(c, hi), len(met))}
}

// merge joins the chunks that fill a range on one shard. Each bound between
// them is a need: it is lost, and it is what an undo cuts at.
func (d *draftBuilder) merge(k *futureChunks, lo, hi shardkey.Key) {
	parts := k.within(lo, hi)
	s := Step{Op: OpMerge, NS: k.c.NS, Min: d.doc(k.c, lo), Max: d.doc(k.c, hi)}
	s.Needs = []Fact{sameCollection(k.c), coveredBy(k.c.NS, s.Min, s.Max, parts[0].Shard)}
	s.Needs[1].Want["chunks"] = strconv.Itoa(len(parts))
	for _, p := range parts[1:] {
		s.Needs = append(s.Needs, edgeAt(k.c.NS, d.doc(k.c, p.Min), true))
	}
	s.Proof = []Fact{chunkIs(k.c.NS, s.Min, s.Max, map[string]string{"exists": "true", "shard": parts[0].Shard})}
	d.step(s)
	d.cuts += len(parts)
	one := parts[0]
	one.Max = hi
	k.replace(one)
}

func (d *draftBuilder) clearJumbo(k *futureChunks, p futureChunk) {
	lo, hi := d.doc(k.c, p.Min), d.doc(k.c, p.Max)
	need := d.chunkFact(k, p)
	need.Want["jumbo"] = strconv.FormatBool(true)
	d.step(Step{Op: OpClearJumbo, NS: k.c.NS, Min: lo, Max: hi,
		Needs: []Fact{sameCollection(k.c), need},
		Proof: []Fact{chunkIs(k.c.NS, lo, hi, map[string]string{"exists": "true", "jumbo": "false"})}})
	p.Jumbo = false
	k.replace(p)
}
