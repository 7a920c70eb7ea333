package rules

import (
	"shardboard/internal/sanitize"
)

const (
	// orphansMany and orphansShare of a collection's rows on a shard are worth a word.
	orphansMany  = 100_000
	orphansShare = 0.05
	orphansMuch  = 0.3
)

// orphans: rows that a migration left behind.
func orphans(l *look) {
	known, asked := 0, 0
	for _, c := range l.sharded() {
		for _, s := range l.Table.Shards {
			size := l.Table.SizeOn(c.NS, s.Name)
			if c.Chunks.CountByShard()[s.Name] == 0 && !size.Orphans.Known {
				continue
			}
			if asked++; !size.Orphans.Known {
				continue
			}
			known++
			rows := size.Documents
			rows.Value += size.Orphans.Value // of those there: what the shard owns, and the orphans
			if size.Orphans.Value < orphansMany || !rows.Known || float64(size.Orphans.Value) < orphansShare*float64(rows.Value) {
				continue
			}
			share := float64(size.Orphans.Value) / float64(max(rows.Value, 1))
			i := Problem{Subject: string(c.NS) + " " + s.Name, NS: c.NS, Shard: s.Name, Severity: Info, Why: say("orphans.some"), Weight: float64(size.Orphans.Value),
				Text: say("orphans", "ns", string(c.NS), "shard", s.Name, "n", i64(size.Orphans.Value), "share", f64(share)),
				Evidence: []Evidence{figure(say("orphans.rows"), "count", size.Orphans), figure(say("orphans.of"), "count", rows),
					{Name: say("orphans.share"), Unit: "share", Known: true, Value: share, Method: size.Orphans.Method, At: size.Orphans.At}}}
			if share >= orphansMuch {
				i.Severity, i.Why = Warn, say("orphans.much")
			}
			i.Remedy = Remedy{WhyNot: say("orphans.direct", "shard", s.Name), Commands: []Command{
				check(`db.getSiblingDB("config").rangeDeletions.find({nss: `+sanitize.Quoted(string(c.NS))+`})`, "orphans.pending"),
				do(admin("cleanupOrphaned: %s", sanitize.Quoted(string(c.NS))), "orphans.clean"),
			}}
			l.add(i)
		}
	}
	if asked > 0 && known == 0 {
		l.cannot("", "noOrphans")
	}
}
