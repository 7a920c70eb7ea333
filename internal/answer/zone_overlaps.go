package answer

import (
	"slices"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// zoneOverlap is where a zone range meets the chunks of a collection.
type zoneOverlap struct {
	zone     string
	from, to int    // chunks that meet the range
	cutFrom  bool   // its border cuts the first of them
	cutTo    bool   // or the last
	allowed  []bool // by ShardIndex: the shard has the zone
}

// zoneOverlaps are the ranges of a collection in key order, as far as their bounds fit its key.
func zoneOverlaps(t *topology.Table, c *topology.Collection) (out []zoneOverlap) {
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
			carriers[z.Zone] = each(c.Chunks.ShardNames(), func(s string) bool { return slices.Contains(with, s) })
		}
		out = append(out, zoneOverlap{zone: z.Zone, from: from, to: to, allowed: carriers[z.Zone],
			cutFrom: c.Chunks.At(from).Min.Compare(z.Min) < 0, cutTo: c.Chunks.At(to-1).Max.Compare(z.Max) > 0})
	}
	return out
}

// whole are the chunks that the range covers completely: a zone binds no others.
func (z zoneOverlap) whole() (from, to int) {
	from, to = z.from, z.to
	if z.cutFrom {
		from++
	}
	if z.cutTo {
		to--
	}
	return from, to
}
