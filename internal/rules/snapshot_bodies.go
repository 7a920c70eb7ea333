package rules

import (
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// snapshotBodies: what documentation shards and no release does.
func snapshotBodies(l *look) {
	if l.Profile == nil || len(l.Table.Shards) < 2 {
		return
	}
	for _, db := range l.Profile.Match(l.Table) {
		for _, f := range l.Profile.DriftOf(l.Table, db, "").Findings {
			if f.Code != profile.FindDocumented {
				continue
			}
			shard := l.Table.Primary(db)
			size := l.Table.SizeOn(f.NS, shard).Bytes
			switch {
			case !size.Known:
				l.cannot(string(f.NS), "noSize")
				continue
			case size.Value < bigLeast:
				continue
			}
			i := Problem{Subject: string(f.NS), NS: f.NS, Shard: shard, Severity: Info, Why: say("bodies.some"), Weight: float64(size.Value),
				Text:     say("bodies", "ns", string(f.NS), "bytes", i64(size.Value), "shard", shard, "key", f.Want),
				Evidence: []Evidence{figure(say("unsharded.bytes"), "bytes", size), l.text("hot.shard", shard, topology.PartDatabases)}}
			if size.Value >= bigBytes {
				i.Severity, i.Why = Warn, say("bodies.much")
			}
			i.Remedy = Remedy{WhyNot: say("noAction"), Commands: typed(f)}
			l.add(i)
		}
	}
}

// typed are the commands of a finding.
func typed(f profile.Finding) []Command {
	var out []Command
	for _, text := range f.Fix.Commands {
		out = append(out, do(text, "drift."+f.Fix.Code))
	}
	return out
}
