package rules

import (
	"slices"

	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// carriers are the shards of each zone.
func (l *look) carriers() map[string][]string {
	out := map[string][]string{}
	for _, s := range l.Table.Shards {
		for _, z := range s.Zones {
			out[z] = append(out[z], s.Name)
		}
	}
	return out
}

// rangesOf are the ranges of each zone.
func (l *look) rangesOf() map[string][]topology.ZoneRange {
	out := map[string][]topology.ZoneRange{}
	for _, z := range l.Table.Zones {
		out[z.Zone] = append(out[z.Zone], z)
	}
	return out
}

// overlap are the chunks that a range meets.
func (l *look) overlap(z topology.ZoneRange) (c *topology.Collection, from, to int) {
	c = l.Table.Collection(z.NS)
	if c == nil || c.Chunks == nil || z.Min.IsZero() {
		return nil, 0, 0
	}
	from, to = c.Chunks.Overlap(shardkey.Range{Min: z.Min, Max: z.Max})
	return c, from, to
}

// outside are the positions of chunks that lie wholly in a range and on a shard
// that does not carry its zone. Empty when nobody does.
func (l *look) outside(z topology.ZoneRange) []int {
	carry := l.carriers()[z.Zone]
	c, from, to := l.overlap(z)
	if c == nil || len(carry) == 0 {
		return nil
	}
	var out []int
	for i := from; i < to; i++ {
		if slices.Contains(carry, c.Chunks.Owner(i)) {
			continue
		}
		if ch := c.Chunks.At(i); ch.Min.Compare(z.Min) >= 0 && ch.Max.Compare(z.Max) <= 0 {
			out = append(out, i)
		}
	}
	return out
}

// removeRange is the plan that takes a range away.
func removeRange(z topology.ZoneRange) Plan {
	return plan("zone-remove-range", say("zone-remove-range", "zone", z.Zone, "ns", string(z.NS)),
		"ns", string(z.NS), "min", document(z.RawMin), "max", document(z.RawMax), "zone", z.Zone)
}

func removeRangeCommand(z topology.ZoneRange) Command {
	return do("sh.removeRangeFromZone("+sanitize.Quoted(string(z.NS))+", "+parsed(document(z.RawMin))+", "+parsed(document(z.RawMax))+")", "zone.removeRange")
}

// fewPlans bounds the plans of one advice.
const fewPlans = 3
