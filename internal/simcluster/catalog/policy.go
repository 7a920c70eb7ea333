package catalog

import "go.mongodb.org/mongo-driver/v2/bson"

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
