package rules

import (
	"cmp"
	"slices"

	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// outsideOf counts the chunks of a collection that lie in a zone's range and on
// a shard that does not carry it.
func (l *look) outsideOf(c *topology.Collection) int {
	n := 0
	for _, z := range l.Table.ZonesOf(c.NS) {
		n += len(l.outside(z))
	}
	return n
}

// switchedOff tells whether the balancer moves nothing in the whole cluster.
func (l *look) switchedOff() bool {
	b := l.Table.Balancer
	return b.Known && (!b.Enabled() || b.Mode == "autoSplitOnly")
}

// offLong tells whether the balancer has been off for longer than maintenance
// takes, or since nobody knows when.
func (l *look) offLong() bool {
	return never(l.Off.At) || l.Off.AtLeast || l.Now.Sub(l.Off.At) >= offShort
}

// zonesStuck: chunks outside of their zone that nothing brings back, because the
// balancer is off or leaves their collection alone. Data is then where it was
// forbidden to be, so that it is critical once it lasts.
func zonesStuck(l *look) {
	if l.unread(topology.PartZones) || l.unread(topology.PartShards) || l.unread(topology.PartSettings) {
		return
	}
	type wrong struct {
		c *topology.Collection
		n int
	}
	var list []wrong
	total := 0
	for _, c := range l.sharded() {
		if n := l.outsideOf(c); n > 0 {
			list, total = append(list, wrong{c, n}), total+n
		}
	}
	slices.SortStableFunc(list, func(a, b wrong) int { return cmp.Compare(b.n, a.n) })
	if len(list) > 0 && l.switchedOff() {
		p := Problem{Subject: "balancer", NS: list[0].c.NS, Severity: Warn, Why: say("zonesStuck.short"), Weight: float64(total),
			Text: say("zonesStuck.balancerOff", "n", itoa(total), "collections", itoa(len(list))), Evidence: []Evidence{l.offEvidence()},
			Remedy: Remedy{Plans: []Plan{plan("balancer-on", say("balancer-on"))}, Commands: []Command{do("sh.startBalancer()", "off.start")}}}
		if l.offLong() {
			p.Severity, p.Why = Critical, say("zonesStuck.nobody")
		}
		for _, w := range list[:min(len(list), 5)] {
			p.Evidence = append(p.Evidence, l.counted("zonesStuck.of", w.n, "ns", string(w.c.NS)))
		}
		l.add(p)
		return
	}
	for _, w := range list {
		ns := string(w.c.NS)
		p := Problem{Subject: ns, NS: w.c.NS, Severity: Critical, Why: say("zonesStuck.nobody"), Weight: float64(w.n),
			Evidence: []Evidence{l.counted("zonesStuck.of", w.n, "ns", ns), l.counted("blocked.chunks", w.c.Chunks.Len())}}
		switch {
		case w.c.Resharding:
			continue // nothing of it moves until that is done, and its own rule lists it
		case w.c.MigrationsBlocked:
			p.Text = say("zonesStuck.blocked", "ns", ns, "n", itoa(w.n))
			p.Remedy = Remedy{WhyNot: say("blocked.allow"), Commands: []Command{do(admin("setAllowMigrations: %s, allowMigrations: true", sanitize.Quoted(ns)), "imbalance.allow")}}
		case w.c.NoBalance:
			p.Text = say("zonesStuck.collectionOff", "ns", ns, "n", itoa(w.n))
			p.Remedy = Remedy{Plans: []Plan{balanceCollection(ns)}, Commands: []Command{do("sh.enableBalancing("+sanitize.Quoted(ns)+")", "imbalance.enable")}}
		default:
			continue // the balancer brings them back
		}
		l.add(p)
	}
}

// zoneViolated: chunks outside of their zone that the balancer is about to move.
// Those of pins are listed by project, and those that nothing moves as stuck.
func zoneViolated(l *look) {
	if l.unread(topology.PartZones) || l.unread(topology.PartShards) || l.switchedOff() {
		return
	}
	for _, c := range l.sharded() {
		if c.NoBalance || c.MigrationsBlocked {
			continue
		}
		n, ranges := 0, 0
		for _, z := range l.Table.ZonesOf(c.NS) {
			if _, pin, ok := placement.ZoneProject(z.Zone); ok && pin {
				continue
			}
			if out := len(l.outside(z)); out > 0 {
				n, ranges = n+out, ranges+1
			}
		}
		if n == 0 {
			continue
		}
		ns := string(c.NS)
		p := Problem{Subject: ns, NS: c.NS, Severity: Info, Why: say("zoneViolated.first"), Weight: float64(n), Text: say("zoneViolated", "ns", ns, "n", itoa(n)),
			Evidence: []Evidence{l.counted("zonesStuck.of", n, "ns", ns), l.counted("zone.ranges", ranges)},
			Remedy:   Remedy{WhyNot: say("zoneViolated.balancer"), Commands: []Command{check("sh.isBalancerRunning()", "draining.round")}}}
		if !l.Table.Balancer.Known {
			p.Severity, p.Why = Warn, say("pin.unknown")
		}
		l.add(p)
	}
}

// zoneCut: chunks that the boundary of a zone's range goes through. They belong
// to no zone until they are split there, which the balancer does when it runs.
func zoneCut(l *look) {
	if l.unread(topology.PartZones) {
		return
	}
	for _, c := range l.sharded() {
		ns, seen := string(c.NS), map[int]bool{}
		var plans []Plan
		for _, z := range l.Table.ZonesOf(c.NS) {
			if _, pin, ok := placement.ZoneProject(z.Zone); ok && pin || z.Min.IsZero() {
				continue // of pins, pin-violated tells
			}
			for _, key := range []shardkey.Key{z.Min, z.Max} {
				i, ch := c.Chunks.Find(key)
				if seen[i] || ch.Min.Compare(key) >= 0 || ch.Max.Compare(key) <= 0 {
					continue
				}
				seen[i] = true
				plans = append(plans, plan("split", say("split.zone", "ns", ns, "zone", z.Zone), "ns", ns, "at", c.Key.ExtJSON(key)))
			}
		}
		if n := len(seen); n > 0 {
			l.add(Problem{Subject: ns, NS: c.NS, Severity: Info, Why: say("zoneCut.edge"), Weight: float64(n), Text: say("zoneCut", "ns", ns, "n", itoa(n)),
				Evidence: []Evidence{l.counted("zoneCut.chunks", n)}, Remedy: Remedy{Plans: plans[:min(len(plans), fewPlans)]}})
		}
	}
}
