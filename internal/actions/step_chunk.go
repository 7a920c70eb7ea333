package actions

import (
	"strconv"

	"shardboard/internal/actions/operation"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// chunkFact is the precondition of a command on a chunk.
func (d *plannedSteps) chunkFact(k *futureChunks, p futureChunk) operation.Fact {
	return chunkIs(k.c.NS, d.doc(k.c, p.Min), d.doc(k.c, p.Max), k.preconditions(p))
}

// splitAt plans to split at a key, unless a chunk already begins there.
func (d *draftBuilder) splitAt(k *futureChunks, at shardkey.Key) {
	if len(d.steps) > maxSteps {
		return // blocked by checkSteps; further steps do not matter
	}
	p := k.at(at)
	raw := d.doc(k.c, at)
	need := d.chunkFact(k, p)
	if !k.cut(at) {
		return
	}
	d.cuts++
	d.step(operation.Step{Op: operation.OpSplitAt, NS: k.c.NS, At: raw,
		Needs: []operation.Fact{sameCollection(k.c), need},
		Proof: []operation.Fact{edgeAt(k.c.NS, raw, true)}})
}

// splitMedian plans to split a chunk at a key that the server chooses. It is proven when
// the chunk no longer exists and other chunks cover its range.
func (d *draftBuilder) splitMedian(k *futureChunks, p futureChunk) {
	lo, hi := d.doc(k.c, p.Min), d.doc(k.c, p.Max)
	d.cuts++
	d.step(operation.Step{Op: operation.OpSplitMedian, NS: k.c.NS, Min: lo, Max: hi,
		Needs: []operation.Fact{sameCollection(k.c), d.chunkFact(k, p)},
		Proof: []operation.Fact{
			chunkIs(k.c.NS, lo, hi, map[string]string{"exists": "false"}),
			{Kind: operation.FactCover, NS: k.c.NS, Min: lo, Max: hi, Want: map[string]string{"edges": "true"}},
		}})
	k.delta[p.Shard]++
}

// move plans to move the part [lo, hi) of one chunk to a shard. Since 6.0 the move splits
// the chunk itself; on older releases it is split first. A whole chunk is named by its
// bounds on every release: 8.0.10 refuses them if they are those of no chunk, while a range
// that crosses a chunk's bound hangs.
func (d *draftBuilder) move(k *futureChunks, lo, hi shardkey.Key, to string) {
	d.moveOff(k, lo, hi, to, "")
}

// moveOff is move for a range that only has to leave the shard off, and may be on any
// other. off is "" if the range has to be on the recipient.
func (d *draftBuilder) moveOff(k *futureChunks, lo, hi shardkey.Key, to, off string) {
	if len(d.steps) > maxSteps {
		return // blocked by checkSteps; further steps do not matter
	}
	d.dependsOnFlags(k.c, lo, hi)
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
	s := operation.Step{Op: operation.OpMove, NS: k.c.NS, Min: d.doc(k.c, lo), Max: d.doc(k.c, hi), Shard: to, Force: d.a.Force}
	if p.Min.Compare(lo) != 0 || p.Max.Compare(hi) != 0 {
		s.Op = operation.OpMoveRange
	}
	from := d.chunkFact(k, p)
	if !p.changed { // a split clears the flag
		from.Want["jumbo"] = strconv.FormatBool(p.Jumbo)
	}
	s.Needs = append([]operation.Fact{sameCollection(k.c), from, shardTakesChunks(to)}, d.zoneFacts(k.c, lo, hi, to)...)
	s.Proof = []operation.Fact{coveredBy(k.c.NS, s.Min, s.Max, to)}
	if off != "" {
		s.Goal = []operation.Fact{noneOn(k.c.NS, s.Min, s.Max, off)}
	}
	d.step(s)
	d.moves = append(d.moves, transfer{k: k, lo: lo, hi: hi, from: p.Shard, to: to, chunks: 1, jumbo: p.Jumbo, step: len(d.steps) - 1})
	k.cut(lo)
	if k.at(lo).Max.Compare(hi) > 0 {
		k.cut(hi)
	}
	k.setShard(lo, hi, to)
}

// zoneFacts returns the preconditions on zones that allow the range to be on the shard.
func (d *draftBuilder) zoneFacts(c *topology.Collection, lo, hi shardkey.Key, shard string) []operation.Fact {
	if !d.zonesRead() {
		return nil
	}
	met := operation.OverlappingRanges(d.ranges(c.NS), lo, hi)
	if len(met) == 1 && met[0].Min.Compare(lo) <= 0 && met[0].Max.Compare(hi) >= 0 {
		return []operation.Fact{zoneOfRange(c.NS, met[0].RawMin, met[0].RawMax, met[0].Zone),
			inZone(shard, met[0].Zone, d.isInZone(shard, met[0].Zone))}
	}
	return []operation.Fact{overlapCount(c.NS, d.doc(c, lo), d.doc(c, hi), len(met))}
}

// merge plans to merge the chunks of a range, which are on one shard. The bounds between
// them are preconditions, so that an undo knows where to split again.
func (d *draftBuilder) merge(k *futureChunks, lo, hi shardkey.Key) {
	parts := k.within(lo, hi)
	s := operation.Step{Op: operation.OpMerge, NS: k.c.NS, Min: d.doc(k.c, lo), Max: d.doc(k.c, hi)}
	s.Needs = []operation.Fact{sameCollection(k.c), coveredBy(k.c.NS, s.Min, s.Max, parts[0].Shard)}
	s.Needs[1].Want["chunks"] = strconv.Itoa(len(parts))
	for _, p := range parts[1:] {
		s.Needs = append(s.Needs, edgeAt(k.c.NS, d.doc(k.c, p.Min), true))
	}
	s.Proof = []operation.Fact{chunkIs(k.c.NS, s.Min, s.Max, map[string]string{"exists": "true", "shard": parts[0].Shard})}
	d.step(s)
	d.cuts += len(parts)
	one := parts[0]
	one.Max = hi
	k.replace(one)
}

func (d *plannedSteps) clearJumbo(k *futureChunks, p futureChunk) {
	lo, hi := d.doc(k.c, p.Min), d.doc(k.c, p.Max)
	need := d.chunkFact(k, p)
	need.Want["jumbo"] = strconv.FormatBool(true)
	d.step(operation.Step{Op: operation.OpClearJumbo, NS: k.c.NS, Min: lo, Max: hi,
		Needs: []operation.Fact{sameCollection(k.c), need},
		Proof: []operation.Fact{chunkIs(k.c.NS, lo, hi, map[string]string{"exists": "true", "jumbo": "false"})}})
	p.Jumbo = false
	k.replace(p)
}
