package rules

import (
	"maps"
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// ZoneNoShard finds zones with ranges that no shard carries.
const ZoneNoShard Rule = "zone-no-shard"

var zoneNoShard = rule{id: ZoneNoShard, name: "Zone without a shard", page: PageZones, find: findZoneNoShard,
	needs: []topology.Part{topology.PartZones, topology.PartShards}, playbooks: []Playbook{PlaybookBalancerFights}}

func findZoneNoShard(ev *evaluation) {
	carry := ev.Table.ZoneShards()
	ranges := ev.rangesOf()
	for _, zone := range natural.Sorted(maps.Keys(ranges)) {
		if len(carry[zone]) > 0 {
			continue
		}
		list := ranges[zone]
		chunks := 0
		for _, z := range list {
			in, _ := ev.Table.RangeChunks(z)
			chunks += in.Count
		}
		if chunks == 0 && ev.allDropped(list) {
			continue // ZoneDropped lists it
		}
		p := Problem{
			Subject:  zone,
			Severity: Critical,
			Why:      message.New("zone.nobody", "Nothing in the cluster repairs this."),
			Weight:   float64(chunks),
			NS:       list[0].NS,
			Text: message.New("zone.noshard",
				"No shard is in the zone {zone}. Chunks affected: {n}.",
				message.Zone("zone", zone), message.Count("n", chunks)),
			Evidence: []Evidence{
				ev.zoneRanges(len(list)),
				ev.counted(message.New("zone.chunks", "Chunks in them"), chunks),
				ev.zoneShards(0),
			},
		}
		for _, s := range ev.Table.Shards {
			if !s.Draining && len(p.Remedy.Plans) < fewPlans {
				p.Remedy.Plans = append(p.Remedy.Plans, plan("zone-add-shard", message.New("zone-add-shard",
					"Add {shard} to the zone {zone}.",
					message.Zone("zone", zone), message.Shard("shard", s.Name)), "shard", s.Name, "zone", zone))
			}
		}
		for _, z := range list[:min(len(list), fewPlans)] {
			p.Remedy.Plans = append(p.Remedy.Plans, removeRange(z))
		}
		if id, _, ok := placement.ZoneProject(zone); ok {
			p.Project = id.Hex()
		}
		ev.add(p)
	}
}

func (ev *evaluation) allDropped(list []topology.ZoneRange) bool {
	return !slices.ContainsFunc(list, func(z topology.ZoneRange) bool { return ev.Table.Collection(z.NS) != nil })
}
