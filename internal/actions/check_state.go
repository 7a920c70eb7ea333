package actions

import (
	"slices"
	"strings"

	"shardboard/internal/topology"
)

// checkStale: a plan from an old table may be of chunks that are gone. Before
// each command what it needs is read again, so this only spares the way there.
func (d *draftBuilder) checkStale() {
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartZones} {
		if !d.s.Table.Stale(p, d.s.Now) {
			continue
		}
		c := Check{ID: "stale", Verdict: Warn, Text: say("stale.old", "part", string(p)), Source: d.fromTable(p)}
		if p == topology.PartRouting {
			c.Verdict = Block
		}
		d.check(c)
		return
	}
	d.check(Check{ID: "stale", Verdict: Pass, Text: say("stale.fresh"), Source: d.fromTable(topology.PartRouting)})
}

// checkRelease: without a release nothing is known of what it does, and before
// 4.4 commands and catalogue are other ones.
func (d *draftBuilder) checkRelease() {
	switch r := d.s.Release; {
	case !r.Known():
		d.check(Check{ID: "release", Verdict: Warn, Text: say("release.unknown"), Source: say("rules")})
	case !r.AtLeast(4, 4, 0):
		d.check(Check{ID: "release", Verdict: Block, Text: say("release.old", "release", r.String()), Source: d.fromRule()})
	default:
		d.check(Check{ID: "release", Verdict: Pass, Text: say("release.has", "release", r.String()), Source: d.fromRule()})
	}
}

// most is how many commands one plan has: more would not end within a day.
const most = 1000

// checkSteps: a plan has something to do, and not too much.
func (d *draftBuilder) checkSteps() {
	switch n := len(d.steps); {
	case n == 0 && !d.blocked() && !d.continuing:
		d.check(Check{ID: "steps", Verdict: Block, Text: say("steps.none"), Source: d.fromTable(topology.PartRouting)})
	case n > most:
		d.check(Check{ID: "steps", Verdict: Block, Text: say("steps.many", "most", count(most)), Source: d.fromTable(topology.PartRouting)})
	}
}

func (d *draftBuilder) blocked() bool {
	return slices.ContainsFunc(d.checks, func(c Check) bool { return c.Verdict == Block })
}

// checkCompeting: what else works on the same collections and shards. A
// migration makes splits and merges wait and other moves of its shards fail at once.
func (d *draftBuilder) checkCompeting() {
	nss := d.namespaces()
	for _, ns := range nss {
		if c := d.s.Table.Collection(ns); c != nil && c.Resharding {
			d.check(Check{ID: "competing", Verdict: Block, Text: say("competing.resharding", "ns", string(ns)), Source: d.fromTable(topology.PartRouting)})
		}
	}
	if len(nss) == 0 {
		return
	}
	act := d.s.Activity
	if !act.Known {
		reason := act.Reason
		if reason == "" {
			reason = reasonNotLoaded
		}
		d.check(Check{ID: "competing", Verdict: Warn, Text: say("competing.unknown", "reason", reason), Source: say("notAsked")})
		return
	}
	quiet := true
	for _, o := range act.DDL {
		if slices.Contains(nss, o.NS) || o.NS.Collection() == "" && slices.ContainsFunc(nss, func(ns topology.Namespace) bool { return ns.Database() == o.NS.Database() }) {
			quiet = false
			d.check(Check{ID: "competing", Verdict: Block, Text: say("competing.ddl", "ns", string(o.NS), "what", o.What, "seconds", number(int64(o.For.Seconds()))), Source: d.fromCluster()})
		}
	}
	shards := append(d.recipients(), d.donors()...)
	for _, m := range act.Migrations {
		args := []string{"ns", string(m.NS), "from", m.From, "to", m.To}
		switch {
		case slices.Contains(shards, m.From) || slices.Contains(shards, m.To):
			quiet = false
			d.check(Check{ID: "competing", Verdict: Warn, Text: say("competing.shards", args...), Source: d.fromCluster()})
		case slices.Contains(nss, m.NS):
			quiet = false
			d.check(Check{ID: "competing", Verdict: Warn, Text: say("competing.waits", args...), Source: d.fromCluster()})
		}
	}
	if quiet {
		d.check(Check{ID: "competing", Verdict: Pass, Text: say("competing.none"), Source: d.fromCluster()})
	}
}

// checkMigrations: a collection that nobody may move chunks of.
func (d *draftBuilder) checkMigrations() {
	for _, k := range d.movedCollections() {
		if k.c.MigrationsBlocked {
			d.check(Check{ID: "migrations-blocked", Verdict: Block, Text: say("migrations-blocked.blocked", "ns", string(k.c.NS)), Source: d.fromTable(topology.PartRouting)})
			continue
		}
		d.check(Check{ID: "migrations-blocked", Verdict: Pass, Text: say("migrations-blocked.allowed", "ns", string(k.c.NS)), Source: d.fromTable(topology.PartRouting)})
	}
}

// movedCollections are the collections of which something moves, by name.
func (d *draftBuilder) movedCollections() []*futureChunks {
	var out []*futureChunks
	for _, k := range d.touched() {
		if slices.ContainsFunc(d.moves, func(m transfer) bool { return m.k == k }) {
			out = append(out, k)
		}
	}
	return out
}

func list(names []string) string { return strings.Join(names, ", ") }
