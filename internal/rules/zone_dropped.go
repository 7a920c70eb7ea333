package rules

import (
	"maps"
	"slices"

	"shardboard/internal/topology"
)

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
	for _, ns := range slices.Sorted(maps.Keys(by)) {
		list := by[ns]
		i := Problem{Subject: ns, NS: list[0].NS, Severity: Info, Why: say("zone.left"), Weight: float64(len(list)), Text: say("zone.dropped", "ns", ns, "n", itoa(len(list))),
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
