package rules

import (
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

const (
	// bigBytes is from where on an unsharded collection is large, and bigShare from
	// which part of its shard's data, when it is at least bigLeast.
	bigBytes = 2 << 30
	bigShare = 0.2
	bigLeast = 256 << 20
)

// dataOn is all data of a shard that is known.
func (l *look) dataOn(shard string) (total int64) {
	add := func(ns topology.Namespace) {
		if db := ns.Database(); db != "config" && db != "admin" {
			total += l.Table.SizeOn(ns, shard).Bytes.Value
		}
	}
	for _, c := range l.Table.Collections {
		add(c.NS)
	}
	for _, ns := range l.Table.Unsharded {
		if l.Table.Primary(ns.Database()) == shard {
			add(ns)
		}
	}
	return total
}

// documented is the finding that a collection is unsharded as every release
// leaves it and documented otherwise.
func (l *look) documented(ns topology.Namespace) (profile.Finding, bool) {
	if l.Profile == nil {
		return profile.Finding{}, false
	}
	for _, f := range l.Profile.DriftOf(l.Table, ns.Database(), "").Findings {
		if f.NS == ns && f.Code == profile.FindDocumented {
			return f, true
		}
	}
	return profile.Finding{}, false
}

// bigUnsharded: a collection that only its one shard can serve.
func bigUnsharded(l *look) {
	if l.Table.Unsharded == nil {
		l.cannot("", "unlisted")
		return
	}
	if len(l.Table.Shards) < 2 {
		return
	}
	for _, ns := range l.Table.Unsharded {
		if db := ns.Database(); db == "config" || db == "admin" || db == "local" {
			continue
		}
		shard := l.Table.Primary(ns.Database())
		f := l.Table.SizeOn(ns, shard).Bytes
		if !f.Known {
			l.cannot(string(ns), "noSize")
			continue
		}
		total := l.dataOn(shard)
		share := float64(f.Value) / float64(max(total, 1))
		if f.Value < bigBytes && (f.Value < bigLeast || share < bigShare) {
			continue
		}
		if _, is := l.documented(ns); is {
			continue // told by its own rule
		}
		i := Problem{Subject: string(ns), NS: ns, Shard: shard, Severity: Info, Why: say("unsharded.some"), Weight: float64(f.Value),
			Text: say("unsharded", "ns", string(ns), "bytes", i64(f.Value), "shard", shard, "share", f64(share)),
			Evidence: []Evidence{figure(say("unsharded.bytes"), "bytes", f),
				{Name: say("unsharded.share", "shard", shard), Unit: "share", Known: true, Value: share, Method: f.Method, At: f.At}}}
		if share >= bigShare && f.Value >= bigBytes {
			i.Severity, i.Why = Warn, say("unsharded.much")
		}
		i.Remedy.WhyNot = say("unsharded.noKey")
		i.Remedy.Commands = l.unshardedCommands(ns, shard)
		l.add(i)
	}
}

func (l *look) unshardedCommands(ns topology.Namespace, shard string) []Command {
	out := []Command{check(collection(ns)+".getIndexes()", "unsharded.indexes")}
	if l.release().AtLeast(8, 0, 0) {
		if to := l.coolest(ns.Database(), shard); to != "" {
			return append(out, do(admin("moveCollection: %s, toShard: %s", sanitize.Quoted(string(ns)), sanitize.Quoted(to)), "unsharded.move"))
		}
	}
	if l.release().AtLeast(7, 0, 0) {
		out = append(out, check(collection(ns)+`.analyzeShardKey({_id: "hashed"})`, "unsharded.analyze"))
	}
	return append(out, do(`sh.shardCollection(`+sanitize.Quoted(string(ns))+`, {_id: "hashed"})`, "unsharded.shard"))
}
