package growth

import (
	"cmp"
	"slices"
)

// distribute chooses the moves that make each collection even, with as few bytes as that takes: only what a
// shard has above its part leaves it. Chunks of a zone are made even between the zone's shards.
func (p *Plan) distribute(in *Input) {
	for c := range in.Collections {
		for zone := range len(in.Zones) + 1 {
			p.distributeZone(in, c, zone)
		}
	}
}

// part is one shard while a collection is made even.
type part struct {
	may    bool  // it may have chunks
	have   int64 // bytes, or chunks
	excess int64 // what it has above its part; what it lacks if negative
}

func (p *Plan) distributeZone(in *Input, c, zone int) {
	chunks := in.Collections[c].Chunks
	parts, total, any := make([]part, len(in.Shards)), int64(0), false
	weight := func(k Chunk) int64 {
		if in.Measure == ByBytes {
			return k.Bytes
		}
		return 1
	}
	for _, k := range chunks {
		if k.Zone == zone {
			any = true
			parts[k.Shard].have += weight(k)
			total += weight(k)
		}
	}
	if !any {
		return
	}
	may := int64(0)
	for i, s := range in.Shards {
		if allowed(in, zone, i) && !s.Emptied {
			parts[i].may = true
			may++
		}
	}
	if may == 0 { // a zone all of whose shards are emptied
		for i, k := range chunks {
			if k.Zone == zone && in.Shards[k.Shard].Emptied {
				p.Stay = append(p.Stay, Stay{c, i})
			}
		}
		return
	}
	setParts(parts, total, may)
	to := -1
	for i, k := range chunks {
		from := &parts[k.Shard]
		w := weight(k)
		// Half of a chunk above its part is nearer to its part than half of one below.
		if k.Zone != zone || from.may && (from.excess <= 0 || 2*from.excess < w) {
			continue
		}
		if k.Stays {
			if !from.may {
				p.Stay = append(p.Stay, Stay{c, i})
			}
			continue
		}
		if to < 0 || to == k.Shard || parts[to].excess >= 0 || i > 0 && chunks[i-1].Shard != k.Shard {
			to = neediest(parts)
		}
		if from.may && -parts[to].excess*2 < w {
			continue // nobody lacks as much as half of it
		}
		from.excess -= w
		parts[to].excess += w
		if n := len(p.Moves); n == 0 || p.Moves[n-1].Collection != c || p.Moves[n-1].Chunk != i-1 || p.Moves[n-1].To != to {
			p.Ranges++
		}
		p.Moves = append(p.Moves, Move{Collection: c, Chunk: i, From: k.Shard, To: to, Bytes: k.Bytes})
		p.Bytes += k.Bytes
	}
}

func allowed(in *Input, zone, shard int) bool {
	if zone == 0 {
		return true
	}
	for _, s := range in.Zones[zone-1] {
		if s == shard {
			return true
		}
	}
	return false
}

// setParts works out what each shard has above its part. What does not divide stays where it is: the parts
// that are one larger go to those that have most.
func setParts(parts []part, total, may int64) {
	each, rest := total/may, total%may
	for i := range parts {
		if parts[i].may {
			parts[i].excess = parts[i].have - each
		} else {
			parts[i].excess = parts[i].have
		}
	}
	order := make([]int, 0, len(parts))
	for i := range parts {
		if parts[i].may {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(parts[b].excess, parts[a].excess) })
	for _, i := range order[:rest] {
		parts[i].excess--
	}
}

// neediest is the shard that lacks most.
func neediest(parts []part) int {
	least := -1
	for i := range parts {
		if parts[i].may && (least < 0 || parts[i].excess < parts[least].excess) {
			least = i
		}
	}
	return least
}
