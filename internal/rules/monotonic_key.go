package rules

import (
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// monotonicKey: inserts always go to the end of the key space.
func monotonicKey(l *look) {
	any := false
	for _, c := range l.sharded() {
		any = any || c.Chunks.Len() > 1 && !c.Key.Fields()[0].Hashed && l.appended(c)
	}
	if !any || l.counting() {
		return
	}
	for _, w := range l.Writes {
		c := l.Table.Collection(w.NS)
		if c == nil || !w.Growing.Is {
			continue
		}
		ns, g := string(w.NS), w.Growing
		i := Problem{Subject: ns, NS: w.NS, Shard: g.Shard, Severity: Warn, Why: say("growing.single"), Weight: w.Total.PerSecond,
			Text:     say("growing", "ns", ns, "field", g.Field, "share", f64(g.Share), "shard", g.Shard),
			Evidence: []Evidence{part(say("growing.last"), g.Share, w), rate(say("growing.rate", "ns", ns), w.Total, w), l.text("hot.key", c.Key.String(), topology.PartRouting)}}
		key := "{" + field(g.Field) + `: "hashed"}`
		if l.release().AtLeast(5, 0, 0) {
			i.Remedy.WhyNot = say("noAction")
			i.Remedy.Commands = []Command{
				check(collection(w.NS)+".stats().size", "growing.room"),
				do(admin("reshardCollection: %s, key: %s", sanitize.Quoted(ns), key), "growing.reshard"),
			}
		} else {
			i.Remedy.WhyNot = say("growing.before50")
		}
		l.add(i)
	}
}

// appended tells whether every write of a collection is a new row that can be
// counted.
func (l *look) appended(c *topology.Collection) bool {
	if l.Profile == nil {
		return false
	}
	coll, ok := l.Profile.Collection(c.NS.Collection())
	return ok && coll.Appended
}
