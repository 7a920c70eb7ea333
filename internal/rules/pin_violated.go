package rules

import (
	"maps"
	"slices"
	"strings"

	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// PinViolated finds pinned projects with chunks on other shards.
const PinViolated Rule = "pin-violated"

var pinViolated = rule{id: PinViolated, name: "Pin violated", page: PageZones, find: findPinViolated,
	needs: []topology.Part{topology.PartZones, topology.PartShards}, playbooks: []Playbook{PlaybookBalancerFights}}

func findPinViolated(ev *evaluation) {
	ranges, carry := ev.rangesOf(), ev.Table.ZoneShards()
	for _, zone := range natural.Sorted(maps.Keys(ranges)) {
		id, pin, ok := placement.ZoneProject(zone)
		if !ok || !pin || len(carry[zone]) == 0 {
			continue // ZoneNoShard lists a zone that no shard carries
		}
		wrong, straddle, chunks := 0, 0, 0
		var on []string
		for _, z := range ranges[zone] {
			in, ok := ev.Table.RangeChunks(z)
			if !ok {
				continue
			}
			chunks += in.Count
			wrong += len(in.Misplaced)
			owner := ev.Table.Collection(z.NS).Chunks.Owner
			for _, i := range in.Misplaced {
				if s := owner(i); !slices.Contains(on, s) {
					on = append(on, s)
				}
			}
			if in.Straddling > 0 {
				straddle++
			}
		}
		if wrong == 0 && straddle == 0 {
			continue
		}
		name := id.Hex()
		p, known := ev.project(id.Hex())
		if known {
			name = p
		}
		problem := Problem{
			Subject:  zone,
			Project:  id.Hex(),
			NS:       ranges[zone][0].NS,
			Severity: Info,
			Why:      message.New("pin.onItsWay", "The balancer is on and moves them back."),
			Weight:   float64(wrong),
			Text: message.New("pin.violated",
				message.Plural(wrong+straddle,
					"The project {name} is pinned to {shard}, but one of its chunks is on another shard "+
						"or is shared with other projects.",
					"The project {name} is pinned to {shard}, but {n} of its chunks are on other shards "+
						"or are shared with other projects."),
				message.Project("name", id.Hex(), name), message.Count("n", wrong+straddle),
				message.Shard("shard", carry[zone][0])),
			Evidence: []Evidence{
				ev.counted(message.New("pin.wrong", "Chunks elsewhere"), wrong),
				ev.counted(message.New("pin.cut", "Ranges that end inside a chunk"), straddle),
				ev.counted(message.New("zone.chunks", "Chunks in them"), chunks),
				ev.text(message.New("pin.carriers", "Pinned to"), message.Text("value", strings.Join(carry[zone], ", ")), topology.PartShards),
			},
		}
		if len(on) > 0 {
			problem.Shard = on[0]
			problem.Evidence = append(problem.Evidence,
				ev.text(message.New("pin.elsewhere", "Also on"), message.Text("value", strings.Join(on, ", ")), topology.PartRouting))
		}
		switch b := ev.Table.Balancer; {
		case !b.Known:
			problem.Severity, problem.Why = Warn, message.New("pin.unknown", "It is not known whether the balancer is on.")
		case ev.switchedOff():
			problem.Severity, problem.Why = Warn, message.New("pin.balancerOff",
				"The balancer {idle}, so nothing moves them back.", ev.idle())
		case ev.notBalanced(ranges[zone]):
			problem.Severity, problem.Why = Warn, message.New("pin.notBalanced",
				"Balancing of the collection is off, or its moves are blocked.")
		}
		if known && len(carry[zone]) == 1 {
			problem.Remedy.Plans = []Plan{
				plan("pin", message.New("pin",
					"Move all of {name} to {shard} now.",
					message.Project("name", id.Hex(), name),
					message.Shard("shard", carry[zone][0])), "project", id.Hex(), "shard", carry[zone][0]),
			}
		}
		if problem.Why.Code == "pin.balancerOff" {
			problem.Remedy.Plans = append(problem.Remedy.Plans, turnBalancerOn())
		}
		if len(problem.Remedy.Plans) == 0 {
			problem.Remedy.WhyNot = message.New("pin.unclear",
				"The project is not known, or several shards are in its zone, so its place is not known.")
			problem.Remedy.Commands = []Command{showStatus()}
		}
		ev.add(problem)
	}
}

// notBalanced tells whether one of the collections is not balanced.
func (ev *evaluation) notBalanced(ranges []topology.ZoneRange) bool {
	return slices.ContainsFunc(ranges, func(z topology.ZoneRange) bool {
		c := ev.Table.Collection(z.NS)
		return c != nil && (c.NoBalance || c.MigrationsBlocked)
	})
}
