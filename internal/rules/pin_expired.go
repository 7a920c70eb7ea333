package rules

import (
	"maps"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"slices"
)

// pinExpired: pins that were meant to end.
func pinExpired(l *look) {
	if l.unread(topology.PartZones) {
		return
	}
	for _, zone := range slices.Sorted(maps.Keys(l.rangesOf())) {
		id, pin, ok := placement.ZoneProject(zone)
		if !ok || !pin {
			continue
		}
		if l.Pins == nil {
			l.cannot(zone, "noPlans")
			continue
		}
		made, known := l.Pins[id.Hex()]
		if !known {
			l.cannot(zone, "notOurs") // made by hand, or its plan is forgotten
			continue
		}
		if made.Expires.IsZero() || l.Now.Before(made.Expires) {
			continue
		}
		name, named := l.project(id.Hex())
		if !named {
			name = id.Hex()
		}
		i := Problem{Subject: zone, Project: id.Hex(), Severity: Info, Why: say("pin.over"), Weight: l.Now.Sub(made.Expires).Hours(),
			Text:     say("pin.expired", "name", name, "since", at(made.Expires)),
			Evidence: []Evidence{{Name: say("pin.expires"), Unit: "time", Known: true, Time: made.Expires, Exact: true, Method: "pinPlan", At: l.Now}},
			Remedy:   Remedy{Plans: []Plan{plan("unpin", say("unpin", "name", name), "project", id.Hex())}}}
		if made.Owner != "" {
			i.Evidence = append(i.Evidence, Evidence{Name: say("pin.owner"), Unit: "text", Known: true, Text: made.Owner, Exact: true, Method: "pinPlan", At: l.Now})
		}
		l.add(i)
	}
}
