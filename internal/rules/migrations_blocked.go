package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
)

// MigrationsBlocked finds collections that refuse every move, by hand too. Resharding blocks
// migrations while it runs, so that is left to Resharding.
const MigrationsBlocked Rule = "migrations-blocked"

var migrationsBlocked = rule{id: MigrationsBlocked, name: "Moves blocked", find: findMigrationsBlocked,
	playbooks: []Playbook{PlaybookBalancerDoesNothing}}

func findMigrationsBlocked(ev *evaluation) {
	for _, c := range ev.sharded() {
		if !c.MigrationsBlocked || c.Resharding {
			continue
		}
		ns, waiting, since := string(c.NS), 0, ev.since(c.NS, SettingMigrations)
		counts := c.Chunks.CountByShard()
		for _, s := range ev.Table.Shards {
			if s.Draining {
				waiting += counts[s.Name]
			}
		}
		p := Problem{
			Subject:  ns,
			NS:       c.NS,
			Severity: Warn,
			Why:      message.New("blocked.moves", "Even moves by hand are refused."),
			Weight:   float64(c.Chunks.Len()),
			Evidence: append(ev.sinceEvidence(since),
				ev.chunksOf(c),
				ev.counted(message.New("blocked.draining", "Of them on draining shards"), waiting),
			),
			Remedy: ev.allowMoves(ns,
				readCommand(`db.getSiblingDB("admin").aggregate([{$currentOp: {allUsers: true}}, {$match: {ns: `+sanitize.Quoted(ns)+`}}])`,
					"blocked.ddl", "an operation that is running may have blocked them")),
		}
		p.Text = ev.lasting("blocked", "Moves of {ns} are blocked", "Moves of {ns} have been blocked", since, message.Namespace("ns", ns))
		if waiting > 0 {
			p.Severity, p.Why = Critical, message.New("blocked.drains",
				"A draining shard has chunks of it and cannot be emptied.")
		}
		ev.add(p)
	}
}
