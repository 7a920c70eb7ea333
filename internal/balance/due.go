package balance

import (
	"slices"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Misplaced calls f for each piece of a chunk that the balancer moves however even the collection is: its
// shard is draining, or not in its zone. Jumbo chunks, which it skips, and pieces that no other shard may
// take are not among them. Settings such as a stopped balancer are not considered.
func (p *Plan) Misplaced(f func(lo, hi shardkey.Key, shard string)) {
	shards := map[string]topology.Shard{}
	for _, s := range p.s.Table.Shards {
		shards[s.Name] = s
	}
	p.eachPiece(func(zone string, ch topology.Chunk, at piece) {
		s, known := shards[ch.Shard]
		if !known || ch.Jumbo || !s.Draining && mayHold(s, zone) {
			return
		}
		if slices.ContainsFunc(p.s.Table.Shards, func(o topology.Shard) bool {
			return o.Name != s.Name && !o.Draining && mayHold(o, zone)
		}) {
			f(at.min, at.max, s.Name)
		}
	})
}

// Excess is about how much the balancer moves until the collection is even by the rules of the release:
// chunks, and since 6.0.3 bytes, which are 0 before. known is false without the sizes that the rules compare.
func (p *Plan) Excess() (chunks, bytes int64, known bool) {
	if !p.Measured() {
		return 0, 0, false
	}
	if !p.release.ByData() {
		for _, s := range p.s.Table.Shards {
			for zone, shards := range p.pieces {
				if t := shards[s.Name]; t != nil && !s.Draining && mayHold(s, zone) { // the others are misplaced
					chunks += int64(max(0, t.count-p.ideal(zone)))
				}
			}
		}
		return chunks, 0, true
	}
	size := p.chunkBytes()
	if size <= 0 {
		return 0, 0, false
	}
	var all []int64
	sum := int64(0)
	for _, s := range p.s.Table.Shards {
		if !s.Draining {
			all = append(all, p.sizes[s.Name])
			sum += p.sizes[s.Name]
		}
	}
	if len(all) == 0 || slices.Max(all)-slices.Min(all) < dataFactor*size {
		return 0, 0, true
	}
	for _, n := range all {
		bytes += max(0, n-sum/int64(len(all)))
	}
	return (bytes + size - 1) / size, bytes, true
}
