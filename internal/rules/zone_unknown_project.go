package rules

import (
	"maps"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"slices"
)

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
	for _, zone := range slices.Sorted(maps.Keys(names)) {
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
		i := Problem{Subject: zone, Severity: Info, Why: say("zone.left"), Project: "", Text: say("zone.unknown", "zone", zone, "id", id.Hex()), Weight: float64(len(ranges[zone])),
			Evidence: []Evidence{l.counted("zone.ranges", len(ranges[zone])), l.counted("zone.shards", len(carry[zone])), l.text("zone.project", id.Hex(), topology.PartZones)}}
		l.leftovers(&i, zone, ranges[zone], carry[zone])
		l.add(i)
	}
}

// leftovers take a zone away: ranges first, a zone with ranges keeps its last shard.
func (l *look) leftovers(i *Problem, zone string, ranges []topology.ZoneRange, shards []string) {
	for _, z := range ranges[:min(len(ranges), fewPlans)] {
		i.Remedy.Plans = append(i.Remedy.Plans, removeRange(z))
		i.Remedy.Commands = append(i.Remedy.Commands, removeRangeCommand(z))
	}
	for _, s := range shards[:min(len(shards), fewPlans)] {
		i.Remedy.Plans = append(i.Remedy.Plans, plan("zone-remove-shard", say("zone-remove-shard", "zone", zone, "shard", s), "shard", s, "zone", zone))
		i.Remedy.Commands = append(i.Remedy.Commands, do("sh.removeShardFromZone("+sanitize.Quoted(s)+", "+sanitize.Quoted(zone)+")", "zone.removeShard"))
	}
}
