package advice

import (
	"slices"

	"shardboard/internal/hostile"
	"shardboard/internal/placement"
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

func sortedNames[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
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
	return do("sh.removeRangeFromZone("+hostile.Quoted(string(z.NS))+", "+parsed(document(z.RawMin))+", "+parsed(document(z.RawMax))+")", "zone.removeRange")
}

// fewPlans bounds the plans of one advice.
const fewPlans = 3

// zoneNoShard: ranges that no shard may hold.
func zoneNoShard(l *look) {
	if l.unread(topology.PartZones) || l.unread(topology.PartShards) {
		return
	}
	carry := l.carriers()
	ranges := l.rangesOf()
	for _, zone := range sortedNames(ranges) {
		if len(carry[zone]) > 0 {
			continue
		}
		list := ranges[zone]
		chunks := 0
		for _, z := range list {
			_, from, to := l.overlap(z)
			chunks += to - from
		}
		if chunks == 0 && l.allDropped(list) {
			continue // told by its own rule
		}
		i := Item{Subject: zone, Rank: Critical, Why: say("zone.nobody"), Weight: float64(chunks), NS: list[0].NS, Text: say("zone.noshard", "zone", zone, "n", itoa(chunks)),
			Evidence: []Evidence{l.counted("zone.ranges", len(list)), l.counted("zone.chunks", chunks), l.counted("zone.shards", 0)}}
		for _, s := range l.Table.Shards {
			if !s.Draining && len(i.Remedy.Plans) < fewPlans {
				i.Remedy.Plans = append(i.Remedy.Plans, plan("zone-add-shard", say("zone-add-shard", "zone", zone, "shard", s.Name), "shard", s.Name, "zone", zone))
			}
		}
		for _, z := range list[:min(len(list), fewPlans)] {
			i.Remedy.Plans = append(i.Remedy.Plans, removeRange(z))
		}
		if id, _, ok := placement.ZoneProject(zone); ok {
			i.Project = id.Hex()
		}
		l.add(i)
	}
}

func (l *look) allDropped(list []topology.ZoneRange) bool {
	return !slices.ContainsFunc(list, func(z topology.ZoneRange) bool { return l.Table.Collection(z.NS) != nil })
}

// zoneUnknown: zones named after a project that is not there.
func zoneUnknown(l *look) {
	if l.unread(topology.PartZones) {
		return
	}
	ranges, carry := l.rangesOf(), l.carriers()
	names := map[string]bool{}
	for z := range ranges {
		names[z] = true
	}
	for z := range carry {
		names[z] = true
	}
	for _, zone := range sortedNames(names) {
		id, _, ok := placement.ZoneProject(zone)
		if !ok {
			continue
		}
		if l.Directory == nil || !l.Directory.Loaded() || l.Directory.Health().Err != nil {
			l.cannot(zone, "noProjects")
			continue
		}
		if _, known := l.Directory.ByID(id); known {
			continue
		}
		i := Item{Subject: zone, Rank: Info, Why: say("zone.left"), Project: "", Text: say("zone.unknown", "zone", zone, "id", id.Hex()), Weight: float64(len(ranges[zone])),
			Evidence: []Evidence{l.counted("zone.ranges", len(ranges[zone])), l.counted("zone.shards", len(carry[zone])), l.text("zone.project", id.Hex(), topology.PartZones)}}
		l.leftovers(&i, zone, ranges[zone], carry[zone])
		l.add(i)
	}
}

// leftovers take a zone away: ranges first, a zone with ranges keeps its last shard.
func (l *look) leftovers(i *Item, zone string, ranges []topology.ZoneRange, shards []string) {
	for _, z := range ranges[:min(len(ranges), fewPlans)] {
		i.Remedy.Plans = append(i.Remedy.Plans, removeRange(z))
		i.Remedy.Commands = append(i.Remedy.Commands, removeRangeCommand(z))
	}
	for _, s := range shards[:min(len(shards), fewPlans)] {
		i.Remedy.Plans = append(i.Remedy.Plans, plan("zone-remove-shard", say("zone-remove-shard", "zone", zone, "shard", s), "shard", s, "zone", zone))
		i.Remedy.Commands = append(i.Remedy.Commands, do("sh.removeShardFromZone("+hostile.Quoted(s)+", "+hostile.Quoted(zone)+")", "zone.removeShard"))
	}
}

// zoneDropped: ranges of collections that are not there.
func zoneDropped(l *look) {
	if l.unread(topology.PartZones) {
		return
	}
	by := map[string][]topology.ZoneRange{}
	for _, z := range l.Table.Zones {
		if l.Table.Collection(z.NS) == nil {
			by[string(z.NS)] = append(by[string(z.NS)], z)
		}
	}
	for _, ns := range sortedNames(by) {
		list := by[ns]
		i := Item{Subject: ns, NS: list[0].NS, Rank: Info, Why: say("zone.left"), Weight: float64(len(list)), Text: say("zone.dropped", "ns", ns, "n", itoa(len(list))),
			Evidence: []Evidence{l.counted("zone.ranges", len(list))}}
		if l.Table.Unsharded != nil && slices.Contains(l.Table.Unsharded, list[0].NS) {
			i.Text.Code = "zone.unsharded" // waits for it to be sharded, or was meant for before
		}
		for _, z := range list[:min(len(list), fewPlans)] {
			i.Remedy.Plans = append(i.Remedy.Plans, removeRange(z))
			i.Remedy.Commands = append(i.Remedy.Commands, removeRangeCommand(z))
		}
		l.add(i)
	}
}

// zoneEmpty: shards carry a zone that has no range.
func zoneEmpty(l *look) {
	if l.unread(topology.PartZones) || l.unread(topology.PartShards) {
		return
	}
	ranges, carry := l.rangesOf(), l.carriers()
	for _, zone := range sortedNames(carry) {
		if len(ranges[zone]) > 0 {
			continue
		}
		if id, _, ok := placement.ZoneProject(zone); ok && l.Directory != nil && l.Directory.Loaded() {
			if _, known := l.Directory.ByID(id); !known {
				continue // told as the zone of an unknown project
			}
		}
		i := Item{Subject: zone, Shard: carry[zone][0], Rank: Info, Why: say("zone.left"), Weight: float64(len(carry[zone])), Text: say("zone.empty", "zone", zone, "n", itoa(len(carry[zone]))),
			Evidence: []Evidence{l.counted("zone.ranges", 0), l.counted("zone.shards", len(carry[zone]))}}
		l.leftovers(&i, zone, nil, carry[zone])
		l.add(i)
	}
}
