package rules

import (
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// MonotonicKey finds collections whose inserts all go to the end of the key space.
const MonotonicKey Rule = "monotonic-key"

var monotonicKey = rule{id: MonotonicKey, name: "Growing shard key", page: PageHeat, ofWrites: true, find: findMonotonicKey,
	noPlaybook: "only another shard key helps, and the commands for it are with the problem"}

func findMonotonicKey(ev *evaluation) {
	any := false
	for _, c := range ev.sharded() {
		any = any || c.Chunks.Len() > 1 && !c.Key.Fields()[0].Hashed && ev.appended(c)
	}
	if !any || ev.uncounted() {
		return
	}
	for _, w := range ev.Writes {
		c := ev.Table.Collection(w.NS)
		if c == nil || !w.Growing.Is {
			continue
		}
		ns, g := string(w.NS), w.Growing
		p := Problem{
			Subject:   ns,
			NS:        w.NS,
			Shard:     g.Shard,
			Severity:  Warn,
			Why:       message.New("growing.single", "One shard takes all inserts."),
			Weight:    w.Total.PerSecond,
			PerSecond: w.Total.PerSecond * g.Share,
			Text: message.New("growing",
				"{share} of the inserts into {ns} in the last {window} went to its last chunk, on {shard}: values of {field} only grow.",
				message.Namespace("ns", ns), message.Last("window", w.Over), message.Text("field", g.Field), message.Share("share", g.Share),
				message.Shard("shard", g.Shard)),
			Evidence: []Evidence{
				shareOf(message.New("growing.last", "Share of the last chunk"), g.Share, w),
				rate(message.New("growing.rate", "Writes to {ns}", message.Namespace("ns", ns)), w.Total, w),
				ev.shardKey(c),
			},
		}
		if ev.release().AtLeast(5, 0, 0) {
			p.Remedy.Plans = []Plan{reshardPlan(w.NS, shardkey.Pattern{}.With(shardkey.Field{Name: g.Field, Hashed: true}))}
			p.Remedy.Commands = preparing("reshard", readCommand(collection(w.NS)+".stats().size",
				"growing.room", "resharding needs 1.2 times this free on every shard"))
		} else if p.Remedy.WhyNot = releaseUnknown(); ev.release().Known() {
			p.Remedy.WhyNot = message.New("growing.before50",
				"Only another shard key helps, and before MongoDB 5.0 no command changes it: dump, drop, "+
					"shard by a hashed field, restore.")
		}
		ev.add(p)
	}
}

// appended tells whether every write of a collection is a new row that can be
// counted.
func (ev *evaluation) appended(c *topology.Collection) bool {
	if ev.Profile == nil {
		return false
	}
	coll, ok := ev.Profile.Collection(c.NS.Collection())
	return ok && coll.Appended
}
