package rules

import (
	"maps"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"slices"
)

// zoneEmpty: shards carry a zone that has no range.
func zoneEmpty(l *look) {
	if l.unread(topology.PartZones) || l.unread(topology.PartShards) {
		return
	}
	ranges, carry := l.rangesOf(), l.carriers()
	for _, zone := range slices.Sorted(maps.Keys(carry)) {
		if len(ranges[zone]) > 0 {
			continue
		}
		if id, _, ok := placement.ZoneProject(zone); ok && l.Directory != nil && l.Directory.Loaded() {
			if _, known := l.Directory.ByID(id); !known {
				continue // told as the zone of an unknown project
			}
		}
		i := Problem{Subject: zone, Shard: carry[zone][0], Severity: Info, Why: say("zone.left"), Weight: float64(len(carry[zone])), Text: say("zone.empty", "zone", zone, "n", itoa(len(carry[zone]))),
			Evidence: []Evidence{l.counted("zone.ranges", 0), l.counted("zone.shards", len(carry[zone]))}}
		l.leftovers(&i, zone, nil, carry[zone])
		l.add(i)
	}
}
