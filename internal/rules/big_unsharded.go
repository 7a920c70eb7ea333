package rules

import (
	"shardboard/internal/message"
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

// BigUnsharded finds large collections that only one shard can serve.
const BigUnsharded Rule = "big-unsharded"

var bigUnsharded = rule{id: BigUnsharded, name: "Large unsharded collection", find: findBigUnsharded,
	playbooks: []Playbook{PlaybookUnshardedData}}

func findBigUnsharded(ev *evaluation) {
	if ev.Table.Unsharded == nil {
		ev.cannot("", unlistedCollections())
		return
	}
	if len(ev.Table.Shards) < 2 {
		return
	}
	for ns := range ev.Table.UnshardedCollections() {
		if topology.IsServerDatabase(ns.Database()) {
			continue
		}
		shard := ev.Table.Home(ns)
		f := ev.Table.SizeOn(ns, shard).Bytes
		if !f.Known {
			ev.cannot(string(ns), unknownSize())
			continue
		}
		total := ev.dataOn(shard)
		share := float64(f.Value) / float64(max(total, 1))
		if f.Value < bigBytes && (f.Value < bigLeast || share < bigShare) {
			continue
		}
		if _, is := ev.documented(ns); is {
			continue // SnapshotBodies lists it
		}
		p := Problem{
			Subject:  string(ns),
			NS:       ns,
			Shard:    shard,
			Severity: Info,
			Why:      message.New("unsharded.some", "Only one shard can serve it."),
			Weight:   float64(f.Value),
			Text: message.New("unsharded",
				"{ns} is not sharded and holds {bytes}, {share} of the data on {shard}.",
				message.Namespace("ns", ns), message.Bytes("bytes", f.Value), message.Shard("shard", shard),
				message.Share("share", share)),
			Evidence: []Evidence{
				figure(message.New("unsharded.bytes", "Data"), "bytes", f),
				shareFrom(message.New("unsharded.share", "Share of the data on {shard}", message.Shard("shard", shard)), share, f.Method, f.At),
			},
		}
		if share >= bigShare && f.Value >= bigBytes {
			p.Severity, p.Why = Warn, message.New("unsharded.much",
				"Only one shard can serve it, and it is a large part of that shard.")
		}
		p.Remedy = Remedy{Plans: ev.unshardedPlans(ns, shard), Commands: ev.unshardedCommands(ns)}
		if len(p.Remedy.Plans) == 0 {
			p.Remedy.WhyNot = message.New("unsharded.noKey",
				"Which key is right depends on the queries, which are not known here.")
		}
		ev.add(p)
	}
}

// dataOn is all data of a shard that is known. That of all shards is added up once.
func (ev *evaluation) dataOn(shard string) int64 {
	if ev.data != nil {
		return ev.data[shard]
	}
	ev.data = map[string]int64{}
	add := func(ns topology.Namespace, only string) {
		if topology.IsServerDatabase(ns.Database()) {
			return
		}
		for name, size := range ev.Table.Sizes[ns].Shards {
			if only == "" || name == only {
				ev.data[name] += size.Bytes.Value
			}
		}
	}
	for _, c := range ev.Table.Collections {
		add(c.NS, "")
	}
	for _, ns := range ev.Table.Unsharded {
		if primary := ev.Table.Primary(ns.Database()); primary != "" {
			add(ns, primary)
		}
	}
	return ev.data[shard]
}

// documented is the finding that a collection is unsharded as every release
// leaves it and documented otherwise.
func (ev *evaluation) documented(ns topology.Namespace) (profile.Finding, bool) {
	if ev.Profile == nil {
		return profile.Finding{}, false
	}
	for _, f := range ev.Profile.DriftOf(ev.Table, ns.Database(), "").Findings {
		if f.NS == ns && f.Code == profile.FindDocumented {
			return f, true
		}
	}
	return profile.Finding{}, false
}

// unshardedPlans move an unsharded collection off a full shard to the one with the least
// data. Before 8.0 it moves only with all other unsharded collections of its database.
func (ev *evaluation) unshardedPlans(ns topology.Namespace, from string) []Plan {
	to := ev.leastData(from)
	switch {
	case to == "":
		return nil
	case ev.release().AtLeast(8, 0, 0):
		return []Plan{moveCollectionPlan(ns, to)}
	}
	return []Plan{movePrimaryPlan(ns.Database(), to)}
}

// leastData is the shard with the least data of those that can take some; "" if there is
// none but one.
func (ev *evaluation) leastData(but string) string {
	best, bytes := "", int64(-1)
	for _, s := range ev.Table.Shards {
		if s.Name == but || s.Draining {
			continue
		}
		if total := ev.dataOn(s.Name); bytes < 0 || total < bytes {
			best, bytes = s.Name, total
		}
	}
	return best
}

func (ev *evaluation) unshardedCommands(ns topology.Namespace) []Command {
	out := []Command{
		readCommand(collection(ns)+".getIndexes()",
			"unsharded.indexes", "look at the indexes: the key's fields have to be in most queries"),
	}
	if ev.release().AtLeast(7, 0, 0) {
		out = append(out, readCommand(collection(ns)+`.analyzeShardKey({_id: "hashed"})`,
			"unsharded.analyze", "how well a key would do"))
	}
	return append(out, writeCommand(`sh.shardCollection(`+sanitize.Quoted(string(ns))+`, {_id: "hashed"})`,
		"unsharded.shard", "shards it by its id: right only where documents are read by _id"))
}
