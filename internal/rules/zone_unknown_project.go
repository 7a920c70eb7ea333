package rules

import (
	"maps"

	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// ZoneUnknown finds zones named after a project that does not exist.
const ZoneUnknown Rule = "zone-unknown-project"

var zoneUnknown = rule{id: ZoneUnknown, name: "Zone of an unknown project", page: PageZones, find: findZoneUnknown,
	needs: []topology.Part{topology.PartZones}, noPlaybook: "its plan is the whole answer: remove the range"}

func findZoneUnknown(ev *evaluation) {
	ranges, carry := ev.rangesOf(), ev.Table.ZoneShards()
	names := map[string]bool{}
	for z := range ranges {
		names[z] = true
	}
	for z := range carry {
		names[z] = true
	}
	for _, zone := range natural.Sorted(maps.Keys(names)) {
		id, _, ok := placement.ZoneProject(zone)
		if !ok {
			continue
		}
		if ev.Directory == nil || !ev.Directory.Loaded() || ev.Directory.Health().Err != nil {
			ev.cannot(zone, unknownProjects())
			continue
		}
		if _, known := ev.Directory.ByID(id); known {
			continue
		}
		p := Problem{
			Subject:  zone,
			Severity: Info,
			Why:      harmlessLeftover(),
			Project:  "",
			Text: message.New("zone.unknown",
				"The zone {zone} belongs to the project {id}, which does not exist.",
				message.Zone("zone", zone), message.Text("id", id.Hex())),
			Weight: float64(len(ranges[zone])),
			Evidence: []Evidence{
				ev.zoneRanges(len(ranges[zone])),
				ev.zoneShards(len(carry[zone])),
				ev.text(message.New("zone.project", "Project"), message.Text("value", id.Hex()), topology.PartZones),
			},
		}
		ev.removeZone(&p, zone, ranges[zone], carry[zone])
		ev.add(p)
	}
}
