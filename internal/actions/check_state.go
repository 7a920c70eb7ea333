package actions

import (
	"slices"
	"strings"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// checkStale: a plan from an old table may be of chunks that are gone. Before
// each command what it needs is read again, so this only spares the way there.
func (d *draftBuilder) checkStale() {
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartZones} {
		if !d.s.Table.Stale(p, d.s.Now) {
			continue
		}
		c := Check{ID: "stale", Verdict: Warn, Text: message.New("stale.old",
			"{part}: the last read failed or is old, so the plan may not match the cluster any more.",
			message.Coded("part", string(p), p.Name())), Source: d.fromTable(p)}
		if p == topology.PartRouting {
			c.Verdict = Block
		}
		d.check(c)
		return
	}
	d.pass("stale", d.fromTable(topology.PartRouting), message.New("stale.fresh", "The routing table is fresh."))
}

// checkRelease: without a release nothing is known of what it does, and before
// 4.4 commands and catalogue are other ones.
func (d *draftBuilder) checkRelease() {
	switch r := d.s.Release; {
	case !r.Known():
		d.warn("release", message.New("rules", "A rule of MongoDB, version unknown"), message.New("release.unknown",
			"The MongoDB version is not known, so its rules could not be checked."))
	case !r.AtLeast(4, 4, 0):
		d.block("release", d.fromRule(), message.New("release.old",
			"MongoDB {release} is too old: version 4.4 or later is required.",
			message.Text("release", r.String())))
	default:
		d.pass("release", d.fromRule(), message.New("release.has",
			"MongoDB {release} supports all of these commands.", message.Text("release", r.String())))
	}
}

// most is how many commands one plan has: more would not end within a day.
const most = 1000

// checkSteps: a plan has something to do, and not too much.
func (d *draftBuilder) checkSteps() {
	switch n := len(d.steps); {
	case n == 0 && !d.blocked() && !d.continuing:
		d.block("steps", d.fromTable(topology.PartRouting), message.New("steps.none",
			"There is nothing to do: the cluster is already in this state."))
	case n > most:
		d.block("steps", d.fromTable(topology.PartRouting), message.New("steps.many",
			"This needs more than {most} commands, the limit of one plan. Plan a smaller part, or leave the "+
				"moves to the balancer with the mode “balancer”.",
			message.Count("most", most)))
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
			d.block("competing", d.fromTable(topology.PartRouting), message.New("competing.resharding",
				"{ns} is being resharded: all of its chunks will be replaced.", message.Namespace("ns", ns)))
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
		d.warn("competing", message.New("notAsked",
			"The cluster was not asked, or did not answer"), message.New("competing.unknown",
			"It is not known what else is running ({reason}).",
			message.Coded("reason", reason, topology.ReasonText(reason))))
		return
	}
	quiet := true
	for _, o := range act.DDL {
		if slices.Contains(nss, o.NS) ||
			o.NS.Collection() == "" && slices.ContainsFunc(nss, func(ns topology.Namespace) bool { return ns.Database() == o.NS.Database() }) {
			quiet = false
			d.block("competing", d.fromCluster(), message.New("competing.ddl",
				"{what} on {ns} has been running for {seconds} s and would conflict.",
				message.Namespace("ns", o.NS), message.Text("what", o.What),
				message.Count("seconds", int64(o.For.Seconds()))))
		}
	}
	shards := append(d.recipients(), d.donors()...)
	for _, m := range act.Migrations {
		facts := []message.Fact{message.Namespace("ns", m.NS), message.Shard("from", m.From), message.Shard("to", m.To)}
		switch {
		case slices.Contains(shards, m.From) || slices.Contains(shards, m.To):
			quiet = false
			d.warn("competing", d.fromCluster(), message.New("competing.shards",
				"A migration of {ns} from {from} to {to} is running. A shard takes part in one migration at a time: "+
					"until it ends, a move of these shards is refused.", facts...))
		case slices.Contains(nss, m.NS):
			quiet = false
			d.warn("competing", d.fromCluster(), message.New("competing.waits",
				"A migration of {ns} from {from} to {to} is running; splits and merges wait for it.", facts...))
		}
	}
	if quiet {
		d.pass("competing", d.fromCluster(), message.New("competing.none",
			"No migration or other change of these collections is running."))
	}
}

// checkMigrations: a collection that nobody may move chunks of.
func (d *draftBuilder) checkMigrations() {
	for _, k := range d.movedCollections() {
		if k.c.MigrationsBlocked {
			d.block("migrations-blocked", d.fromTable(topology.PartRouting), message.New("migrations-blocked.blocked",
				"Migrations of {ns} are disabled (allowMigrations: false). Allow them first.",
				message.Namespace("ns", k.c.NS)))
			continue
		}
		d.pass("migrations-blocked", d.fromTable(topology.PartRouting), message.New("migrations-blocked.allowed",
			"Migrations of {ns} are allowed.", message.Namespace("ns", k.c.NS)))
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
