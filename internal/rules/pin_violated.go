package rules

import (
	"maps"
	"slices"

	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// pinViolated: chunks of a pinned project that are elsewhere.
func pinViolated(l *look) {
	if l.unread(topology.PartZones) || l.unread(topology.PartShards) {
		return
	}
	ranges, carry := l.rangesOf(), l.carriers()
	for _, zone := range slices.Sorted(maps.Keys(ranges)) {
		id, pin, ok := placement.ZoneProject(zone)
		if !ok || !pin || len(carry[zone]) == 0 {
			continue // nobody carries it: told by its own rule
		}
		wrong, straddle, chunks := 0, 0, 0
		var on []string
		for _, z := range ranges[zone] {
			c, from, to := l.overlap(z)
			chunks += to - from
			out := l.outside(z)
			wrong += len(out)
			for _, i := range out {
				if s := c.Chunks.Owner(i); !slices.Contains(on, s) {
					on = append(on, s)
				}
			}
			if c != nil && from < to && (c.Chunks.At(from).Min.Compare(z.Min) < 0 || c.Chunks.At(to-1).Max.Compare(z.Max) > 0) {
				straddle++
			}
		}
		if wrong == 0 && straddle == 0 {
			continue
		}
		name := id.Hex()
		p, known := l.project(id.Hex())
		if known {
			name = p
		}
		i := Problem{Subject: zone, Project: id.Hex(), NS: ranges[zone][0].NS, Severity: Info, Why: say("pin.onItsWay"), Weight: float64(wrong),
			Text: say("pin.violated", "name", name, "n", itoa(wrong+straddle), "shard", carry[zone][0]),
			Evidence: []Evidence{l.counted("pin.wrong", wrong), l.counted("pin.cut", straddle), l.counted("zone.chunks", chunks),
				l.text("pin.carriers", join(carry[zone]), topology.PartShards)}}
		if len(on) > 0 {
			i.Shard = on[0]
			i.Evidence = append(i.Evidence, l.text("pin.elsewhere", join(on), topology.PartRouting))
		}
		switch b := l.Table.Balancer; {
		case !b.Known:
			i.Severity, i.Why = Warn, say("pin.unknown")
		case !b.Enabled() || b.Mode == "autoSplitOnly":
			i.Severity, i.Why = Warn, say("pin.balancerOff")
		case l.leftAlone(ranges[zone]):
			i.Severity, i.Why = Warn, say("pin.leftAlone")
		}
		if known && len(carry[zone]) == 1 {
			i.Remedy.Plans = []Plan{plan("pin", say("pin", "name", name, "shard", carry[zone][0]), "project", id.Hex(), "shard", carry[zone][0])}
		}
		if i.Why.Code == "pin.balancerOff" {
			i.Remedy.Plans = append(i.Remedy.Plans, plan("balancer-on", say("balancer-on")))
		}
		if len(i.Remedy.Plans) == 0 {
			i.Remedy.WhyNot = say("pin.unclear")
			i.Remedy.Commands = []Command{check("sh.status()", "draining.look")}
		}
		l.add(i)
	}
}

// leftAlone tells whether one of the collections is not balanced.
func (l *look) leftAlone(ranges []topology.ZoneRange) bool {
	return slices.ContainsFunc(ranges, func(z topology.ZoneRange) bool {
		c := l.Table.Collection(z.NS)
		return c != nil && (c.NoBalance || c.MigrationsBlocked)
	})
}

// project is the name of a project by its id.
func (l *look) project(id string) (string, bool) {
	if l.Directory == nil {
		return "", false
	}
	for _, p := range l.Directory.Exactly(id) {
		if p.ID.Hex() == id && p.Name != "" {
			return p.Name, true
		}
	}
	return "", false
}

func join(list []string) string {
	out := ""
	for i, s := range list {
		if i > 0 {
			out += ", "
		}
		out += s
	}
	return out
}
