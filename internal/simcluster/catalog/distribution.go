package catalog

import (
	"math"
	"slices"
)

// distribution is the balancer policy's view of one collection.
type distribution struct {
	c     *Cluster
	r     *Routing
	zones []string // by chunk
	used  map[string]bool
	moves []Candidate
	sizes map[string]int64 // by shard, where the policy compares bytes
}

// names lists the collection's zones, then "" for chunks outside of zones.
func (d *distribution) names() []string {
	var names []string
	for _, z := range d.c.zones[d.r.NS] {
		names = append(names, z.Name)
	}
	slices.Sort(names)
	return append(slices.Compact(names), "")
}

func (d *distribution) move(i int, to, reason string) {
	ch := d.r.chunks[i]
	d.moves = append(d.moves, Candidate{NS: d.r.NS, Min: ch.Min, Max: ch.Max, From: ch.Shard, To: to, Reason: reason})
	d.used[ch.Shard], d.used[to] = true, true
}

// receiver is the shard with the fewest chunks of the collection that may receive a
// chunk of the zone.
func (d *distribution) receiver(zone string) string {
	best, least := "", int64(math.MaxInt64)
	for _, s := range d.c.shards {
		if d.used[s.name] || s.draining || zone != "" && !contains(s.tags, zone) {
			continue
		}
		if n := d.load(s.name); n < least {
			best, least = s.name, n
		}
	}
	return best
}

func (d *distribution) drain() {
	for _, s := range d.c.shards {
		if !s.draining || d.used[s.name] || d.r.counts[s.name] == 0 {
			continue
		}
		for i, ch := range d.r.chunks {
			if ch.Shard != s.name || ch.Jumbo {
				continue
			}
			if to := d.receiver(d.zones[i]); to != "" && to != s.name {
				d.move(i, to, Draining)
				break
			}
		}
	}
}

func (d *distribution) enforce() {
	if len(d.c.zones[d.r.NS]) == 0 {
		return
	}
	for _, s := range d.c.shards {
		if d.used[s.name] {
			continue
		}
		for i, ch := range d.r.chunks {
			if ch.Shard != s.name || d.zones[i] == "" || contains(s.tags, d.zones[i]) || ch.Jumbo {
				continue
			}
			if to := d.receiver(d.zones[i]); to != "" {
				d.move(i, to, Violation)
				break
			}
		}
	}
}

// level plans moves within one zone from shards above the rounded average to shards
// below it, one per pair of shards.
func (d *distribution) level(zone string) {
	if d.c.features.bySize {
		d.levelBySize(zone)
		return
	}
	count := make(map[string]int)
	for i, ch := range d.r.chunks {
		if d.zones[i] == zone {
			count[ch.Shard]++
		}
	}
	// For chunks outside of zones the server uses the average over all chunks.
	chunks, shards := len(d.r.chunks), 0
	if zone != "" {
		chunks = 0
		for _, n := range count {
			chunks += n
		}
	}
	for _, s := range d.c.shards {
		if zone == "" || contains(s.tags, zone) {
			shards++
		}
	}
	if shards == 0 {
		return
	}
	ideal := int(math.Round(float64(chunks) / float64(shards)))
	for d.levelOne(zone, ideal, count) {
	}
}

func (d *distribution) levelOne(zone string, ideal int, count map[string]int) bool {
	from, most := "", 0
	for _, s := range d.c.shards {
		if !d.used[s.name] && count[s.name] > most {
			from, most = s.name, count[s.name]
		}
	}
	if from == "" || most <= ideal {
		return false
	}
	to := d.receiver(zone)
	if to == "" || count[to] >= ideal || to == from {
		return false
	}
	for i, ch := range d.r.chunks {
		if ch.Shard == from && d.zones[i] == zone && !ch.Jumbo {
			d.move(i, to, Imbalance)
			return true
		}
	}
	return false
}
