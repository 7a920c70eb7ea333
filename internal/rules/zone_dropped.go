package rules

import (
	"maps"
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// ZoneDropped finds zone ranges of collections that do not exist or are not sharded.
const ZoneDropped Rule = "zone-dropped"

var zoneDropped = rule{id: ZoneDropped, name: "Zone range of a missing collection", page: PageZones, find: findZoneDropped,
	needs: []topology.Part{topology.PartZones}, noPlaybook: "its plan is the whole answer: remove the range"}

func findZoneDropped(ev *evaluation) {
	by := map[string][]topology.ZoneRange{}
	for _, z := range ev.Table.Zones {
		if ev.Table.Collection(z.NS) == nil {
			by[string(z.NS)] = append(by[string(z.NS)], z)
		}
	}
	for _, ns := range natural.Sorted(maps.Keys(by)) {
		list := by[ns]
		p := Problem{
			Subject:  ns,
			NS:       list[0].NS,
			Severity: Info,
			Why:      harmlessLeftover(),
			Weight:   float64(len(list)),
			Text: message.New("zone.dropped",
				"Zone ranges of {ns}, which does not exist: {n}.",
				message.Namespace("ns", ns), message.Count("n", len(list))),
			Evidence: []Evidence{ev.zoneRanges(len(list))},
		}
		if ev.Table.Unsharded != nil && slices.Contains(ev.Table.Unsharded, list[0].NS) {
			// It may be sharded later, or have been sharded before.
			p.Text = message.New("zone.unsharded", "Zone ranges of {ns}, which is not sharded: {n}.", p.Text.Facts...)
		}
		for _, z := range list[:min(len(list), fewPlans)] {
			p.Remedy.Plans = append(p.Remedy.Plans, removeRange(z))
			p.Remedy.Commands = append(p.Remedy.Commands, removeRangeCommand(z))
		}
		ev.add(p)
	}
}
