package catalog

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reasons of a candidate, as balancerCollectionStatus names them.
const (
	Draining  = "draining"
	Violation = "zoneViolation"
	Imbalance = "chunksImbalance"
)

// Candidate is a chunk that the balancer would move.
type Candidate struct {
	NS       string
	Min, Max bson.Raw
	From, To string
	Reason   string
}

// SplitCandidate is a chunk that crosses zone boundaries, with the points at which to
// split it.
type SplitCandidate struct {
	NS     string
	Min    bson.Raw
	Points []bson.Raw
}

// ZoneSplits are the splits at the beginning of a round, after which every chunk is
// inside one zone or outside of all. The caller holds Mu.
func (c *Cluster) ZoneSplits(ns string) []SplitCandidate {
	r := c.routes[ns]
	if r == nil {
		return nil
	}
	var out []SplitCandidate
	for _, z := range c.zones[ns] {
		for _, edge := range []bson.Raw{z.Min, z.Max} {
			if compareKeys(edge, r.pattern.min()) <= 0 || compareKeys(edge, r.pattern.max()) >= 0 {
				continue
			}
			ch := r.chunks[r.indexOf(edge)]
			if compareKeys(ch.Min, edge) == 0 {
				continue
			}
			if n := len(out); n > 0 && compareKeys(out[n-1].Min, ch.Min) == 0 {
				if p := out[n-1].Points; compareKeys(p[len(p)-1], edge) != 0 {
					out[n-1].Points = append(p, edge)
				}
				continue
			}
			out = append(out, SplitCandidate{NS: ns, Min: ch.Min, Points: []bson.Raw{edge}})
		}
	}
	return out
}

// Candidates are the moves of a balancer round in one collection, most urgent first:
// away from draining shards, then away from shards outside of the chunk's zone, then
// from shards with more than their fair share of a zone's chunks. used holds the shards
// that already take part in a move of this round and is extended
// (db/s/balancer/balancer_policy.cpp, balance). The caller holds Mu.
func (c *Cluster) Candidates(ns string, used map[string]bool) []Candidate {
	r := c.routes[ns]
	if r == nil {
		return nil
	}
	d := &distribution{c: c, r: r, used: used, zones: c.chunkZones(r)}
	d.drain()
	d.enforce()
	for _, zone := range d.names() {
		d.level(zone)
	}
	return d.moves
}

// chunkZones is the zone of every chunk of a table, in order.
func (c *Cluster) chunkZones(r *Routing) []string {
	out := make([]string, len(r.chunks))
	zones := c.zones[r.NS]
	for i, ch := range r.chunks {
		for len(zones) > 0 && compareKeys(zones[0].Max, ch.Min) <= 0 {
			zones = zones[1:]
		}
		if len(zones) == 0 {
			break
		}
		if compareKeys(zones[0].Min, ch.Min) <= 0 && compareKeys(ch.Max, zones[0].Max) <= 0 {
			out[i] = zones[0].Name
		}
	}
	return out
}

// MovesRanges reports whether the balancer moves ranges of about one chunk size (6.0.3)
// instead of whole chunks.
func (c *Cluster) MovesRanges() bool { return c.features.bySize }

// TimesRounds reports whether the log entry of a balancer round has durations (7.0).
func (c *Cluster) TimesRounds() bool { return c.features.roundTimes }

// ownedBytes is the size of a shard's owned documents of a collection.
func (c *Cluster) ownedBytes(r *Routing, shard string) int64 {
	coll := c.data(shard, r.NS)
	if coll == nil || coll.Len() == 0 {
		return 0
	}
	return coll.Bytes() - int64(c.Orphans(r.NS, shard))*(coll.Bytes()/int64(coll.Len()))
}

// bytesIn estimates the size of a chunk: its number of documents times the average
// document size on the shard.
func (c *Cluster) bytesIn(r *Routing, ch *Chunk) int64 {
	coll := c.data(ch.Shard, r.NS)
	if coll == nil || coll.Len() == 0 {
		return 0
	}
	return coll.CountRange(r.Key, ch.Min, ch.Max) * (coll.Bytes() / int64(coll.Len()))
}

// load is the measure by which the policy compares shards: number of chunks, or since
// 6.0.3 bytes.
func (d *distribution) load(shard string) int64 {
	if !d.c.features.bySize {
		return int64(d.r.counts[shard])
	}
	if d.sizes == nil {
		d.sizes = make(map[string]int64, len(d.c.shards))
		for _, s := range d.c.shards {
			d.sizes[s.name] = d.c.ownedBytes(d.r, s.name)
		}
	}
	return d.sizes[shard]
}

// levelBySize moves data from the fullest shard of a zone to the emptiest while they
// differ by at least three chunk sizes; the number of chunks does not matter
// (db/s/balancer/balancer_policy.cpp, _singleZoneBalanceBasedOnDataSize).
func (d *distribution) levelBySize(zone string) {
	var total, shards int64
	for _, s := range d.c.shards {
		if zone == "" || slices.Contains(s.tags, zone) {
			total += d.load(s.name)
			shards++
		}
	}
	if shards == 0 {
		return
	}
	for d.levelOneBySize(zone, total/shards) {
	}
}

func (d *distribution) levelOneBySize(zone string, ideal int64) bool {
	first := make(map[string]int, len(d.c.shards)) // the chunk that each shard would donate
	for i, ch := range d.r.chunks {
		if _, seen := first[ch.Shard]; !seen && d.zones[i] == zone && !ch.Jumbo {
			first[ch.Shard] = i
		}
	}
	from, most := "", int64(math.MinInt64)
	for _, s := range d.c.shards {
		if _, gives := first[s.name]; gives && !d.used[s.name] && d.load(s.name) > most {
			from, most = s.name, d.load(s.name)
		}
	}
	if from == "" || most <= ideal {
		return false
	}
	to := d.receiver(zone)
	if to == "" || to == from || d.load(to) >= ideal || most-d.load(to) < 3*d.c.chunkSizeOf(d.r) {
		return false
	}
	d.move(first[from], to, Imbalance)
	return true
}

// AnyMove returns an arbitrary legal move that balancing does not require: to a shard
// that is in the chunk's zone, is not draining, has no orphans of the range, and takes
// part in no other move of the round (used, which is extended). pick chooses a number
// below n. The caller holds Mu.
func (c *Cluster) AnyMove(ns string, used map[string]bool, pick func(n int) int) (Candidate, bool) {
	r := c.routes[ns]
	if r == nil || len(r.chunks) == 0 {
		return Candidate{}, false
	}
	zones, first := c.chunkZones(r), pick(len(r.chunks))
	for n := range r.chunks {
		i := (first + n) % len(r.chunks)
		ch := r.chunks[i]
		if used[ch.Shard] || ch.Jumbo {
			continue
		}
		var to []string
		for _, s := range c.shards {
			switch {
			case s.name == ch.Shard || used[s.name] || s.draining:
			case zones[i] != "" && !slices.Contains(s.tags, zones[i]):
			case c.orphansIn(r, s.name, ch.Min, ch.Max) != nil:
			default:
				to = append(to, s.name)
			}
		}
		if len(to) == 0 {
			continue
		}
		m := Candidate{NS: ns, Min: ch.Min, Max: ch.Max, From: ch.Shard, To: to[pick(len(to))], Reason: Imbalance}
		used[m.From], used[m.To] = true, true
		return m, true
	}
	return Candidate{}, false
}
