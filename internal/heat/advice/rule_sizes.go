package advice

import (
	"shardboard/internal/hostile"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

const (
	// bigBytes is from where on an unsharded collection is large, and bigShare from
	// which part of its shard's data, when it is at least bigLeast.
	bigBytes = 2 << 30
	bigShare = 0.2
	bigLeast = 256 << 20

	// orphansMany and orphansShare of a collection's rows on a shard are worth a word.
	orphansMany  = 100_000
	orphansShare = 0.05
	orphansMuch  = 0.3
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
		i := Item{Subject: string(ns), NS: ns, Shard: shard, Rank: Info, Why: say("unsharded.some"), Weight: float64(f.Value),
			Text: say("unsharded", "ns", string(ns), "bytes", i64(f.Value), "shard", shard, "share", f64(share)),
			Evidence: []Evidence{figure(say("unsharded.bytes"), "bytes", f),
				{Name: say("unsharded.share", "shard", shard), Unit: "share", Known: true, Value: share, Method: f.Method, At: f.At}}}
		if share >= bigShare && f.Value >= bigBytes {
			i.Rank, i.Why = Warn, say("unsharded.much")
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
			return append(out, do(admin("moveCollection: %s, toShard: %s", hostile.Quoted(string(ns)), hostile.Quoted(to)), "unsharded.move"))
		}
	}
	if l.release().AtLeast(7, 0, 0) {
		out = append(out, check(collection(ns)+`.analyzeShardKey({_id: "hashed"})`, "unsharded.analyze"))
	}
	return append(out, do(`sh.shardCollection(`+hostile.Quoted(string(ns))+`, {_id: "hashed"})`, "unsharded.shard"))
}

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
			i := Item{Subject: string(f.NS), NS: f.NS, Shard: shard, Rank: Info, Why: say("bodies.some"), Weight: float64(size.Value),
				Text:     say("bodies", "ns", string(f.NS), "bytes", i64(size.Value), "shard", shard, "key", f.Want),
				Evidence: []Evidence{figure(say("unsharded.bytes"), "bytes", size), l.text("hot.shard", shard, topology.PartDatabases)}}
			if size.Value >= bigBytes {
				i.Rank, i.Why = Warn, say("bodies.much")
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

// drift: not sharded as the schema means it to be.
func drift(l *look) {
	if l.Profile == nil {
		return
	}
	for _, db := range l.Profile.Match(l.Table) {
		for _, f := range l.Profile.DriftOf(l.Table, db, "").Findings {
			if f.Code == profile.FindUnlisted {
				l.cannot(string(f.NS), "unlisted")
				continue
			}
			if !f.Look {
				continue
			}
			i := Item{Subject: string(f.NS), NS: f.NS, Rank: Info, Why: say("drift.some"), Text: say("drift."+f.Code, "ns", string(f.NS), "want", f.Want, "have", f.Have, "layout", f.Layout),
				Evidence: []Evidence{l.text("drift.have", f.Have, topology.PartRouting), l.text("drift.want", f.Want, topology.PartRouting)}}
			if f.Code == profile.FindUnsharded || f.Code == profile.FindDifferent && f.Variant == "" {
				i.Rank, i.Why = Warn, say("drift.much")
			}
			if i.Remedy = (Remedy{WhyNot: say("noAction"), Commands: typed(f)}); len(i.Remedy.Commands) == 0 {
				i.Remedy.WhyNot = say("drift.noCommand")
			}
			l.add(i)
		}
	}
}

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
			rows := size.Documents // of those there: what the shard owns, and the orphans
			rows.Value += size.Orphans.Value
			if size.Orphans.Value < orphansMany || !rows.Known || float64(size.Orphans.Value) < orphansShare*float64(rows.Value) {
				continue
			}
			share := float64(size.Orphans.Value) / float64(max(rows.Value, 1))
			i := Item{Subject: string(c.NS) + " " + s.Name, NS: c.NS, Shard: s.Name, Rank: Info, Why: say("orphans.some"), Weight: float64(size.Orphans.Value),
				Text: say("orphans", "ns", string(c.NS), "shard", s.Name, "n", i64(size.Orphans.Value), "share", f64(share)),
				Evidence: []Evidence{figure(say("orphans.rows"), "count", size.Orphans), figure(say("orphans.of"), "count", rows),
					{Name: say("orphans.share"), Unit: "share", Known: true, Value: share, Method: size.Orphans.Method, At: size.Orphans.At}}}
			if share >= orphansMuch {
				i.Rank, i.Why = Warn, say("orphans.much")
			}
			i.Remedy = Remedy{WhyNot: say("orphans.direct", "shard", s.Name), Commands: []Command{
				check(`db.getSiblingDB("config").rangeDeletions.find({nss: `+hostile.Quoted(string(c.NS))+`})`, "orphans.pending"),
				do(admin("cleanupOrphaned: %s", hostile.Quoted(string(c.NS))), "orphans.clean"),
			}}
			l.add(i)
		}
	}
	if asked > 0 && known == 0 {
		l.cannot("", "noOrphans")
	}
}
