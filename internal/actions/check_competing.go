package actions

import (
	"cmp"
	"slices"
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// checkCompeting reports what else changes the same collections and shards. Splits and
// merges wait for a migration of their collection. Moves that involve a shard of a
// running migration fail at once.
func (d *draftBuilder) checkCompeting() (out findings) {
	if slices.ContainsFunc(d.steps, func(s operation.Step) bool { return s.Effects().EndsAnother }) {
		return // what is running is what the plan ends
	}
	nss := d.namespaces()
	for _, ns := range nss {
		if c := d.s.Table.Collection(ns); c != nil && c.Resharding {
			out.block("competing", d.fromTable(topology.PartRouting), message.New("competing.resharding",
				"{ns} is being resharded: all of its chunks will be replaced.", message.Namespace("ns", ns)))
		}
	}
	if len(nss) == 0 {
		return out
	}
	for _, k := range d.changedCollections() {
		if k.c.Defragmenting {
			out.warn("competing", d.fromTable(topology.PartRouting), message.New("competing.defragmentation",
				"{ns} is being defragmented: the balancer merges and moves its chunks, and may undo this change.",
				message.Namespace("ns", k.c.NS)))
		}
	}
	act := d.s.Activity
	if !act.Known {
		reason := cmp.Or(act.Reason, reasonNotLoaded)
		out.warn("competing", message.New("notAsked",
			"The cluster was not asked, or did not answer"), message.New("competing.unknown",
			"It is not known what else is running ({reason}).",
			message.Coded("reason", reason, topology.ReasonText(reason))))
		return out
	}
	quiet := true
	for _, o := range act.DDL {
		if slices.Contains(nss, o.NS) ||
			o.NS.Collection() == "" && slices.ContainsFunc(nss, func(ns topology.Namespace) bool { return ns.Database() == o.NS.Database() }) {
			quiet = false
			out.block("competing", d.fromCluster(), message.New("competing.ddl",
				"{what} on {ns} has been running for {age} and conflicts with this plan.",
				message.Namespace("ns", o.NS), message.Text("what", o.What), message.Duration("age", o.For.Truncate(time.Second))))
		}
	}
	shards := append(d.recipients(), d.donors()...)
	for _, m := range act.Migrations {
		facts := []message.Fact{message.Namespace("ns", m.NS), message.Shard("from", m.From), message.Shard("to", m.To)}
		switch {
		case slices.Contains(shards, m.From) || slices.Contains(shards, m.To):
			quiet = false
			out.warn("competing", d.fromCluster(), message.New("competing.shards",
				"A move of {ns} from {from} to {to} is running. A shard takes part in one move at a time: "+
					"until it ends, another move with these shards is refused.", facts...))
		case slices.Contains(nss, m.NS):
			quiet = false
			out.warn("competing", d.fromCluster(), message.New("competing.waits",
				"A move of {ns} from {from} to {to} is running; splits and merges wait for it.", facts...))
		}
	}
	if quiet {
		out.pass("competing", d.fromCluster(), message.New("competing.none",
			"No move or other change of these collections is running."))
	}
	return out
}

// checkMigrations blocks moves of a collection whose migrations are disabled.
func (d *draftBuilder) checkMigrations() (out findings) {
	for _, k := range d.movedCollections() {
		if k.c.MigrationsBlocked {
			out.block("migrations-blocked", d.fromTable(topology.PartRouting), movesBlocked(k.c.NS))
			continue
		}
		out.pass("migrations-blocked", d.fromTable(topology.PartRouting), message.New("migrations-blocked.allowed",
			"Moves of {ns} are allowed.", message.Namespace("ns", k.c.NS)))
	}
	return out
}

func movesBlocked(ns topology.Namespace) message.Message {
	return message.New("migrations-blocked.blocked", "Moves of {ns} are blocked (allowMigrations: false). Allow them first.",
		message.Namespace("ns", ns))
}

// movedCollections returns the collections with moves, by name.
func (d *draftBuilder) movedCollections() []*futureChunks {
	var out []*futureChunks
	for _, k := range d.changedCollections() {
		if slices.ContainsFunc(d.moves, func(m transfer) bool { return m.k == k }) {
			out = append(out, k)
		}
	}
	return out
}
