package balance

import (
	"math"
	"slices"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// round chooses the moves of one round: first chunks on draining shards, then chunks
// outside of their zone, then, zone by zone, chunks of overloaded shards. A shard takes
// part in one migration at a time.
func (p *Plan) round() []Move {
	r := &round{p: p, used: map[string]bool{}}
	for shard := range p.busy {
		r.used[shard] = true
	}
	r.drain()
	r.enforce()
	for _, zone := range p.zoneNames() {
		for r.level(zone) {
			continue
		}
	}
	return r.moves
}

type round struct {
	p     *Plan
	used  map[string]bool
	moves []Move
}

// zoneNames lists the collection's zones in order, then "" for keys outside of zones.
func (p *Plan) zoneNames() []string {
	var out []string
	for _, z := range p.zones {
		out = append(out, z.Zone)
	}
	natural.Sort(out)
	return append(slices.Compact(out), "")
}

// members is how many shards may hold chunks of a zone, draining ones included.
func (p *Plan) members(zone string) (n int) {
	for _, s := range p.s.Table.Shards {
		if mayHold(s, zone) {
			n++
		}
	}
	return n
}

func (r *round) take(at piece, from, to string, why Reason) {
	r.moves = append(r.moves, Move{Chunk: at.chunk, Min: at.min, Max: at.max, From: from, To: to, Reason: why})
	r.used[from], r.used[to] = true, true
}

// receiver is the shard that may receive a chunk of the zone and has the least of the
// collection (chunks in all zones, or bytes); "" if there is none.
func (r *round) receiver(zone string) string {
	best := ""
	for _, s := range r.p.s.Table.Shards {
		if r.used[s.Name] || s.Draining || !mayHold(s, zone) {
			continue
		}
		if best == "" || r.p.amount(s.Name) < r.p.amount(best) {
			best = s.Name
		}
	}
	return best
}

// amount is the measure by which receivers are compared.
func (p *Plan) amount(shard string) int64 {
	if p.release.ByData() && p.sizes != nil {
		return p.sizes[shard]
	}
	return int64(p.counts[shard])
}

func (r *round) drain() {
	for _, s := range r.p.s.Table.Shards {
		if s.Draining && !r.used[s.Name] {
			r.moveOff(s, Draining, func(string) bool { return true })
		}
	}
}

func (r *round) enforce() {
	for _, s := range r.p.s.Table.Shards {
		if !r.used[s.Name] {
			r.moveOff(s, Zone, func(zone string) bool { return !mayHold(s, zone) })
		}
	}
}

// moveOff moves the shard's lowest chunk in a zone that has a receiver.
func (r *round) moveOff(s topology.Shard, why Reason, of func(zone string) bool) {
	var best piece
	found, to := false, ""
	for _, zone := range r.p.zoneNames() {
		t := r.p.pieces[zone][s.Name]
		if t == nil || !t.some || !of(zone) || found && t.first.min.Compare(best.min) >= 0 {
			continue
		}
		if shard := r.receiver(zone); shard != "" && shard != s.Name {
			best, found, to = t.first, true, shard
		}
	}
	if found {
		r.take(best, s.Name, to, why)
	}
}

// level moves one chunk of a zone from the shard with the most to the one with the
// least, if the difference exceeds the threshold.
func (r *round) level(zone string) bool {
	if r.p.members(zone) == 0 {
		return false
	}
	if r.p.release.ByData() {
		return r.levelData(zone)
	}
	return r.levelCounts(zone)
}

// ideal is the rounded number of chunks per shard; for keys outside of zones
// all chunks of the collection count (4.4 to 6.0.2).
func (p *Plan) ideal(zone string) int {
	n := p.total
	if zone != "" {
		n = 0
		for _, t := range p.pieces[zone] {
			n += t.count
		}
	}
	return int(math.Round(float64(n) / float64(max(p.members(zone), 1))))
}

func (p *Plan) in(zone, shard string) int {
	if t := p.pieces[zone][shard]; t != nil {
		return t.count
	}
	return 0
}

// levelCounts moves a chunk if the shard with the most chunks of the zone has more than
// the ideal and the receiver less (4.4 to 6.0.2).
func (r *round) levelCounts(zone string) bool {
	from, most := "", 0
	for _, s := range r.p.s.Table.Shards {
		if n := r.p.in(zone, s.Name); !r.used[s.Name] && n > most {
			from, most = s.Name, n
		}
	}
	ideal := r.p.ideal(zone)
	if most <= ideal {
		return false
	}
	to := r.receiver(zone)
	if to == "" || to == from || r.p.in(zone, to) >= ideal {
		return false
	}
	return r.lowest(zone, from, to)
}

// dataFactor is by how many chunk sizes two shards must differ (6.0.3 on).
const dataFactor = 3

// levelData moves a chunk if the zone's fullest and emptiest shards differ by three
// chunk sizes in bytes of the collection, over all zones (6.0.3 on).
func (r *round) levelData(zone string) bool {
	if r.p.sizes == nil {
		return false
	}
	from, most := "", int64(-1)
	for _, s := range r.p.s.Table.Shards {
		if n := r.p.sizes[s.Name]; !r.used[s.Name] && mayHold(s, zone) && n > most {
			from, most = s.Name, n
		}
	}
	to := r.receiver(zone)
	if from == "" || to == "" || to == from || most-r.p.sizes[to] < dataFactor*r.p.chunkBytes() {
		return false
	}
	return r.lowest(zone, from, to)
}

// lowest moves the first chunk that is not jumbo. If the fullest shard has none, the
// server skips the zone in this round without considering its other shards.
func (r *round) lowest(zone, from, to string) bool {
	t := r.p.pieces[zone][from]
	if t == nil || !t.some {
		r.p.stuck[zone] = from
		return false
	}
	r.take(t.first, from, to, Imbalance)
	return true
}
