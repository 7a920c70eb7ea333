package rules

import (
	"maps"

	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// ZoneEmpty finds zones that shards carry and that have no range.
const ZoneEmpty Rule = "zone-empty"

var zoneEmpty = rule{id: ZoneEmpty, name: "Zone without ranges", page: PageZones, find: findZoneEmpty,
	needs: []topology.Part{topology.PartZones, topology.PartShards}, noPlaybook: "its plan is the whole answer: remove the zone"}

func findZoneEmpty(ev *evaluation) {
	ranges, carry := ev.rangesOf(), ev.Table.ZoneShards()
	for _, zone := range natural.Sorted(maps.Keys(carry)) {
		if len(ranges[zone]) > 0 {
			continue
		}
		if id, _, ok := placement.ZoneProject(zone); ok && ev.Directory != nil && ev.Directory.Loaded() {
			if _, known := ev.Directory.ByID(id); !known {
				continue // ZoneUnknown lists it
			}
		}
		p := Problem{
			Subject:  zone,
			Shard:    carry[zone][0],
			Severity: Info,
			Why:      harmlessLeftover(),
			Weight:   float64(len(carry[zone])),
			Text: message.New("zone.empty",
				"The zone {zone} has no range. Shards in it: {n}.",
				message.Zone("zone", zone), message.Count("n", len(carry[zone]))),
			Evidence: []Evidence{ev.zoneRanges(0), ev.zoneShards(len(carry[zone]))},
		}
		ev.removeZone(&p, zone, nil, carry[zone])
		ev.add(p)
	}
}
