package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// ZoneViolated finds chunks outside their zone that the balancer is about to move. Chunks of
// pinned projects are listed by PinViolated, those that nothing moves by ZonesStuck.
const ZoneViolated Rule = "zone-violated"

var zoneViolated = rule{id: ZoneViolated, name: "Zone violated", page: PageZones, find: findZoneViolated,
	needs: []topology.Part{topology.PartZones, topology.PartShards}, playbooks: []Playbook{PlaybookBalancerFights}}

func findZoneViolated(ev *evaluation) {
	if ev.switchedOff() {
		return
	}
	for _, c := range ev.sharded() {
		if c.NoBalance || c.MigrationsBlocked {
			continue
		}
		n, ranges := 0, 0
		for _, z := range ev.Table.ZonesOf(c.NS) {
			if _, pin, ok := placement.ZoneProject(z.Zone); ok && pin {
				continue
			}
			if out := len(ev.misplaced(z)); out > 0 {
				n, ranges = n+out, ranges+1
			}
		}
		if n == 0 {
			continue
		}
		ns := string(c.NS)
		p := Problem{
			Subject:  ns,
			NS:       c.NS,
			Severity: Info,
			Why:      message.New("zoneViolated.first", "The balancer moves such chunks first."),
			Weight:   float64(n),
			Text: message.New("zoneViolated",
				message.Plural(n,
					"One chunk of {ns} is outside its zone, {where}.",
					"{n} chunks of {ns} are outside their zone, {where}."),
				message.Namespace("ns", ns), message.Count("n", n), ev.misplacedText(c)),
			Evidence: []Evidence{ev.outsideZone(c.NS, n), ev.zoneRanges(ranges)},
			Remedy: Remedy{
				WhyNot: message.New("zoneViolated.balancer",
					"The balancer moves these chunks itself. If their number does not go down, look at "+
						"failed moves."),
				Commands: []Command{balancerRound()},
			},
		}
		if !ev.Table.Balancer.Known {
			p.Severity, p.Why = Warn, message.New("pin.unknown", "It is not known whether the balancer is on.")
		}
		ev.add(p)
	}
}
