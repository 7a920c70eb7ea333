package rules

import (
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// balancingOff: collections that the balancer was told to leave alone.
func balancingOff(l *look) {
	for _, c := range l.sharded() {
		if !c.NoBalance {
			continue
		}
		if l.outsideOf(c) > 0 {
			continue // listed with its consequence, as zones-stuck
		}
		ns := string(c.NS)
		l.add(Problem{Subject: ns, NS: c.NS, Severity: Info, Why: say("balancingOff.chosen"), Weight: float64(c.Chunks.Len()), Text: say("balancingOff", "ns", ns),
			Evidence: []Evidence{l.counted("balancingOff.chunks", c.Chunks.Len())},
			Remedy: Remedy{Plans: []Plan{balanceCollection(ns)},
				Commands: []Command{do("sh.enableBalancing("+sanitize.Quoted(ns)+")", "imbalance.enable")}}})
	}
}

// balanceCollection is the plan that switches a collection's balancing on.
func balanceCollection(ns string) Plan {
	return plan("balance-collection", say("balance-collection", "ns", ns), "ns", ns, "on", "true")
}

// migrationsBlocked: collections that refuse every move, by hand too. While a
// collection is resharded that is a part of it and ends with it.
func migrationsBlocked(l *look) {
	for _, c := range l.sharded() {
		if !c.MigrationsBlocked || c.Resharding {
			continue
		}
		ns, waiting := string(c.NS), 0
		counts := c.Chunks.CountByShard()
		for _, s := range l.Table.Shards {
			if s.Draining {
				waiting += counts[s.Name]
			}
		}
		p := Problem{Subject: ns, NS: c.NS, Severity: Warn, Why: say("blocked.moves"), Weight: float64(c.Chunks.Len()), Text: say("blocked", "ns", ns),
			Evidence: []Evidence{l.counted("blocked.chunks", c.Chunks.Len()), l.counted("blocked.draining", waiting)},
			Remedy: Remedy{WhyNot: say("blocked.allow"),
				Commands: []Command{check(`db.getSiblingDB("admin").aggregate([{$currentOp: {allUsers: true}}, {$match: {ns: `+sanitize.Quoted(ns)+`}}])`, "blocked.ddl"),
					do(admin("setAllowMigrations: %s, allowMigrations: true", sanitize.Quoted(ns)), "imbalance.allow")}}}
		if waiting > 0 {
			p.Severity, p.Why = Critical, say("blocked.drains")
		}
		l.add(p)
	}
}

// resharding: collections that get another key now.
func resharding(l *look) {
	for _, c := range l.sharded() {
		if !c.Resharding {
			continue
		}
		ns := string(c.NS)
		l.add(Problem{Subject: ns, NS: c.NS, Severity: Info, Why: say("resharding.ends"), Weight: float64(c.Chunks.Len()), Text: say("resharding", "ns", ns),
			Evidence: []Evidence{l.text("hot.key", c.Key.String(), topology.PartRouting), l.counted("blocked.chunks", c.Chunks.Len())},
			Remedy: Remedy{WhyNot: say("resharding.wait"),
				Commands: []Command{check(`db.getSiblingDB("admin").aggregate([{$currentOp: {allUsers: true, localOps: false}}, {$match: {type: "op", originatingCommand: {$exists: true}, desc: /Resharding/}}])`, "resharding.progress")}}})
	}
}
