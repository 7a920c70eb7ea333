package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// ZoneCut finds chunks that cross the boundary of a zone's range. They belong to no zone until
// they are split there, which the balancer does when it runs.
const ZoneCut Rule = "zone-cut"

var zoneCut = rule{id: ZoneCut, name: "Chunk crosses a zone boundary", page: PageZones, find: findZoneCut,
	needs: []topology.Part{topology.PartZones}, playbooks: []Playbook{PlaybookBalancerFights}}

func findZoneCut(ev *evaluation) {
	for _, c := range ev.sharded() {
		ns, seen := string(c.NS), map[int]bool{}
		var plans []Plan
		for _, z := range ev.Table.ZonesOf(c.NS) {
			if _, pin, ok := placement.ZoneProject(z.Zone); ok && pin || z.Min.IsZero() {
				continue // PinViolated lists pins
			}
			for _, key := range []shardkey.Key{z.Min, z.Max} {
				i, ch := c.Chunks.Find(key)
				if seen[i] || ch.Min.Compare(key) >= 0 || ch.Max.Compare(key) <= 0 {
					continue
				}
				seen[i] = true
				plans = append(plans, plan("split", message.New("split.zone",
					"Split a chunk of {ns} at the boundary of the zone {zone}.",
					message.Namespace("ns", ns), message.Zone("zone", z.Zone)), "ns", ns, "at", c.Key.ExtJSON(key)))
			}
		}
		if n := len(seen); n > 0 {
			ev.add(Problem{
				Subject:  ns,
				NS:       c.NS,
				Severity: Info,
				Why:      message.New("zoneCut.edge", "The balancer splits them at the boundary when it runs."),
				Weight:   float64(n),
				Text: message.New("zoneCut",
					message.Plural(n,
						"One chunk of {ns} crosses a zone boundary.",
						"{n} chunks of {ns} cross a zone boundary."),
					message.Namespace("ns", ns), message.Count("n", n)),
				Evidence: []Evidence{ev.counted(message.New("zoneCut.chunks", "Chunks that cross a boundary"), n)},
				Remedy:   Remedy{Plans: plans[:min(len(plans), fewPlans)]},
			})
		}
	}
}
