package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// SnapshotBodies finds large collections that the documentation shards and no release does.
const SnapshotBodies Rule = "snapshot-bodies"

var snapshotBodies = rule{id: SnapshotBodies, name: "Unsharded though documented as sharded", find: findSnapshotBodies,
	noPlaybook: "it follows from the release of Yorkie, and the commands are with the problem"}

func findSnapshotBodies(ev *evaluation) {
	if ev.Profile == nil || len(ev.Table.Shards) < 2 {
		return
	}
	for _, db := range ev.Profile.Match(ev.Table) {
		for _, f := range ev.Profile.DriftOf(ev.Table, db, "").Findings {
			if f.Code != profile.FindDocumented {
				continue
			}
			shard := ev.Table.Home(f.NS)
			size := ev.Table.SizeOn(f.NS, shard).Bytes
			switch {
			case !size.Known:
				ev.cannot(string(f.NS), unknownSize())
				continue
			case size.Value < bigLeast:
				continue
			}
			p := Problem{
				Subject:  string(f.NS),
				NS:       f.NS,
				Shard:    shard,
				Severity: Info,
				Why:      message.New("bodies.some", "Only one shard can serve it."),
				Weight:   float64(size.Value),
				Text: message.New("bodies",
					"{ns} is documented as sharded by {key}, but no release shards it. Its {bytes} are all on {shard}.",
					message.Namespace("ns", f.NS), message.Bytes("bytes", size.Value),
					message.Shard("shard", shard), message.Text("key", f.Want)),
				Evidence: []Evidence{
					figure(message.New("unsharded.bytes", "Data"), "bytes", size),
					ev.onShard(shard, topology.PartDatabases),
				},
			}
			if size.Value >= bigBytes {
				p.Severity, p.Why = Warn, message.New("bodies.much",
					"Only one shard can serve it, and it grows with every large snapshot.")
			}
			p.Remedy = ev.fixRemedy(f)
			ev.add(p)
		}
	}
}
