package rules

import (
	"maps"
	"slices"

	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// zoneNoShard: ranges that no shard may hold.
func zoneNoShard(l *look) {
	if l.unread(topology.PartZones) || l.unread(topology.PartShards) {
		return
	}
	carry := l.carriers()
	ranges := l.rangesOf()
	for _, zone := range slices.Sorted(maps.Keys(ranges)) {
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
		i := Problem{Subject: zone, Severity: Critical, Why: say("zone.nobody"), Weight: float64(chunks), NS: list[0].NS, Text: say("zone.noshard", "zone", zone, "n", itoa(chunks)),
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
