package actions

import (
	"math/big"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// estimate returns the bytes or documents of a collection in [lo, hi), as measured for
// this plan, or else estimated. The config database has no sizes of chunks, so the
// amount on a shard is divided by the number of its chunks. If the range covers only a
// part of a chunk, the part is computed from the hashes of a hashed key, or from the
// number of projects if the key begins with the project; otherwise it is half of the
// chunk, plus or minus half.
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

// perChunk is the mean of a shard's chunks. If the shard has one chunk it is the size of
// that chunk, unless orphaned documents are included.
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

// cutShare estimates the part of a chunk that is in [lo, hi).
func (d *draftBuilder) cutShare(c *topology.Collection, ch topology.Chunk, lo, hi shardkey.Key, share topology.Figure) topology.Figure {
	in := shardkey.Range{Min: shardkey.Later(lo, ch.Min), Max: shardkey.Earlier(hi, ch.Max)}
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

// hashPart is the share of a range of hashes that a range inside it covers.
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

func bytesOf(s topology.Size) topology.Figure { return s.Bytes }

func documentsOf(s topology.Size) topology.Figure { return s.Documents }

// chunkLimit is the size above which a chunk cannot be moved: twice the chunk size, in
// documents of the average size (MongoDB 5.0.7, refused with code 153). 0 when the
// chunk size is not known.
func (d *plannedCluster) chunkLimit(c *topology.Collection) int64 { return 2 * chunkBytes(d.now, c) }
