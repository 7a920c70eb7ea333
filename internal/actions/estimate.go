package actions

import (
	"math/big"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// estimate is what [lo, hi) has of a collection's bytes or documents: as it was
// measured for this plan, else an estimate. The config database has no size of a
// chunk: a shard's amount is divided by its chunks.
// Of a chunk that the range cuts, a hashed key gives the part by arithmetic, and
// a key that leads with the project the part of its projects; else half of it is
// taken, give or take the other half.
func (d *draftBuilder) estimate(c *topology.Collection, lo, hi shardkey.Key, of func(topology.Size) topology.Figure) topology.Figure {
	if f, ok := d.s.Measured.figure(Span{NS: c.NS, Min: lo, Max: hi}, of); ok {
		return f
	}
	counts := c.Chunks.CountByShard()
	per := map[string]topology.Figure{}
	from, to := c.Chunks.Overlap(shardkey.Range{Min: lo, Max: hi})
	var total sum
	for i, ch := range c.Chunks.Range(from, to) {
		share, known := per[ch.Shard]
		if !known {
			share = perChunk(of(d.s.Table.SizeOn(c.NS, ch.Shard)), counts[ch.Shard])
			per[ch.Shard] = share
		}
		if f, ok := d.s.Measured.figure(Span{NS: c.NS, Min: ch.Min, Max: ch.Max}, of); ok {
			share = f
		}
		if i == from || i+1 == to {
			share = d.cutShare(c, ch, lo, hi, share)
		}
		total.add(share)
	}
	return total.figure()
}

// perChunk is the mean of a shard's chunks. Of a shard with one chunk it is
// that chunk's, as far as no orphans are counted in.
func perChunk(whole topology.Figure, chunks int) topology.Figure {
	if !whole.Known || chunks == 0 {
		if whole.Reason == "" {
			whole = topology.Figure{Reason: reasonNotLoaded}
		}
		return whole
	}
	if chunks == 1 {
		return whole
	}
	whole.Value /= int64(chunks)
	whole.Exact, whole.Method, whole.PlusMinus = false, methodShare, 0
	return whole
}

// cutShare is the part of a chunk's share that is in [lo, hi).
func (d *draftBuilder) cutShare(c *topology.Collection, ch topology.Chunk, lo, hi shardkey.Key, share topology.Figure) topology.Figure {
	in := shardkey.Range{Min: later(lo, ch.Min), Max: earlier(hi, ch.Max)}
	if in.Min.Compare(ch.Min) == 0 && in.Max.Compare(ch.Max) == 0 || !share.Known {
		return share
	}
	share.Exact = false
	whole := shardkey.Range{Min: ch.Min, Max: ch.Max}
	if part, ok := hashPart(c.Key, whole, in); ok {
		share.Value, share.Method = int64(float64(share.Value)*part), methodShare
		return share
	}
	some, known := d.projectsIn(c, in)
	if all, _ := d.projectsIn(c, whole); known && len(some) > 0 {
		share.Value = share.Value * int64(len(some)) / int64(len(all))
		share.PlusMinus, share.Method = share.Value, methodProjects
		return share
	}
	share.Value, share.PlusMinus, share.Method = share.Value/2, (share.Value+1)/2, methodPart
	return share
}

// hashPart is how much of a range of hashes another one inside it takes.
func hashPart(p shardkey.Pattern, whole, in shardkey.Range) (float64, bool) {
	if !hashedLast(p) {
		return 0, false
	}
	_, lo, hi, ok := hashSpan(p, whole)
	if !ok {
		return 0, false
	}
	_, from, to, ok := hashSpan(p, in)
	if !ok || lo.Cmp(hi) >= 0 {
		return 0, false
	}
	part, _ := new(big.Rat).SetFrac(new(big.Int).Sub(to, from), new(big.Int).Sub(hi, lo)).Float64()
	return part, true
}

func later(a, b shardkey.Key) shardkey.Key {
	if a.Compare(b) > 0 {
		return a
	}
	return b
}

func earlier(a, b shardkey.Key) shardkey.Key {
	if a.Compare(b) < 0 {
		return a
	}
	return b
}

func bytesOf(s topology.Size) topology.Figure { return s.Bytes }

func documentsOf(s topology.Size) topology.Figure { return s.Documents }

// chunkLimit is the size from which a chunk can't be moved: twice the chunk
// size in documents of the average size (MongoDB 5.0.7, refused with code 153);
// 0 when the chunk size is not known.
func (d *draftBuilder) chunkLimit(c *topology.Collection) int64 { return 2 * chunkBytes(d.s.Table, c) }
