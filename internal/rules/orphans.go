package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
)

const (
	// orphansMany and orphansShare of a collection's rows on a shard are worth a word.
	orphansMany  = 100_000
	orphansShare = 0.05
	orphansMuch  = 0.3
)

// Orphans finds documents that migrations left behind on a shard that does not own them any
// more.
const Orphans Rule = "orphans"

var orphans = rule{id: Orphans, name: "Orphaned documents", find: findOrphans,
	noPlaybook: "the server deletes them by itself; the problem has the command that looks"}

func findOrphans(ev *evaluation) {
	known, asked := 0, 0
	for _, c := range ev.sharded() {
		for _, s := range ev.Table.Shards {
			size := ev.Table.SizeOn(c.NS, s.Name)
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
			p := Problem{
				Subject:  string(c.NS) + " " + s.Name,
				NS:       c.NS,
				Shard:    s.Name,
				Severity: Info,
				Why:      message.New("orphans.some", "They cost space and slow down broadcast queries."),
				Weight:   float64(size.Orphans.Value),
				Text: message.New("orphans",
					message.Plural(int(size.Orphans.Value),
						"One document of {ns} on {shard} is orphaned ({share} of those there): a "+
							"move left it behind and it is not deleted yet.",
						"{n} documents of {ns} on {shard} are orphaned ({share} of those there): "+
							"moves left them behind and they are not deleted yet."),
					message.Namespace("ns", c.NS), message.Shard("shard", s.Name),
					message.Count("n", size.Orphans.Value), message.Share("share", share)),
				Evidence: []Evidence{
					figure(message.New("orphans.rows", "Orphaned documents"), "count", size.Orphans),
					figure(message.New("orphans.of", "Documents there"), "count", rows),
					shareFrom(message.New("orphans.share", "Share"), share, size.Orphans.Method, size.Orphans.At),
				},
			}
			if share >= orphansMuch {
				p.Severity, p.Why = Warn, message.New("orphans.much",
					"They are a large part of the collection there, so deletion may be stuck.")
			}
			p.Remedy = Remedy{
				WhyNot: message.New("orphans.direct",
					"The shard deletes them itself. Connect to the primary of {shard} directly, not to a mongos.",
					message.Shard("shard", s.Name)),
				Commands: []Command{
					readCommand(`db.getSiblingDB("config").rangeDeletions.find({nss: `+sanitize.Quoted(string(c.NS))+`})`,
						"orphans.pending", "pending deletions, on the shard's primary (MongoDB 4.4 or later)"),
					writeCommand(admin("cleanupOrphaned: %s", sanitize.Quoted(string(c.NS))),
						"orphans.clean", "on the shard's primary: waits until they are deleted"),
				},
			}
			ev.add(p)
		}
	}
	if asked == 0 || known > 0 {
		return
	}
	if release := ev.release(); release.Known() && !release.AtLeast(6, 0, 0) {
		ev.notAvailable(message.New("orphans.release",
			"MongoDB counts orphaned documents from 6.0 on. The page of each collection says whether some are expected."))
		return
	}
	ev.cannot("", message.New("noOrphans",
		"The shards do not count orphaned documents, or it is not permitted. The page of each collection says whether some are expected."))
}
