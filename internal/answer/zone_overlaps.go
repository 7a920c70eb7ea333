package answer

import (
	"slices"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// ZoneOverlap is where a zone range meets the chunks of a collection.
type ZoneOverlap struct {
	Zone     string
	From, To int    // chunks that meet the range
	CutFrom  bool   // its border cuts the first of them
	CutTo    bool   // or the last
	Allowed  []bool // by ShardIndex: the shard has the zone
}

// ZoneOverlaps are the ranges of a collection in key order, as far as their bounds fit its key.
func ZoneOverlaps(t *topology.Table, c *topology.Collection) (out []ZoneOverlap) {
	carriers := map[string][]bool{}
	for _, z := range t.ZonesOf(c.NS) {
		if z.Min.IsZero() || z.Max.IsZero() || c.Chunks.Len() == 0 {
			continue
		}
		from, to := c.Chunks.Overlap(shardkey.Range{Min: z.Min, Max: z.Max})
		if from >= to {
			continue
		}
		if carriers[z.Zone] == nil {
			with := t.CarriersOf(z.Zone)
			carriers[z.Zone] = Map(c.Chunks.ShardNames(), func(s string) bool { return slices.Contains(with, s) })
		}
		out = append(out, ZoneOverlap{Zone: z.Zone, From: from, To: to, Allowed: carriers[z.Zone],
			CutFrom: c.Chunks.At(from).Min.Compare(z.Min) < 0, CutTo: c.Chunks.At(to-1).Max.Compare(z.Max) > 0})
	}
	return out
}

// Whole are the chunks that the range covers completely: a zone binds no others.
func (z ZoneOverlap) Whole() (from, to int) {
	from, to = z.From, z.To
	if z.CutFrom {
		from++
	}
	if z.CutTo {
		to--
	}
	return from, to
}
