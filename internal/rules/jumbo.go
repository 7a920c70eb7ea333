package rules

import (
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// jumbo: chunks that the balancer gave up on.
func jumbo(l *look) {
	for _, c := range l.sharded() {
		n := c.Chunks.Jumbo()
		if n == 0 {
			continue
		}
		ns := string(c.NS)
		var first topology.Chunk
		for _, ch := range c.Chunks.All() {
			if ch.Jumbo {
				first = ch
				break
			}
		}
		i := Problem{Subject: ns, NS: c.NS, Shard: first.Shard, Severity: Warn, Why: say("jumbo.stays"), Weight: float64(n), Text: say("jumbo", "ns", ns, "n", itoa(n)),
			Evidence: []Evidence{l.counted("jumbo.chunks", n), l.counted("jumbo.of", c.Chunks.Len()), l.text(evidenceJumboMin, c.Key.ExtJSON(first.Min), topology.PartRouting)}}
		if s := l.Table.Shard(first.Shard); s != nil && s.Draining {
			i.Severity, i.Why = Critical, say("jumbo.draining")
		}
		clear := plan("clear-jumbo", say("clear-jumbo", "ns", ns), "ns", ns, "bounds", bounds(c, first))
		if l.single(c, first) {
			i.Remedy.WhyNot = say("jumbo.single", "key", c.Key.String())
			i.Remedy.Plans = []Plan{clear}
			i.Remedy.Commands = l.widerKey(c)
		} else {
			i.Remedy.Plans = []Plan{plan("split", say("split", "ns", ns, "shard", first.Shard), "ns", ns, "bounds", bounds(c, first), "parts", "2"), clear}
		}
		l.add(i)
	}
}

// widerKey are the commands that let a chunk of one value be cut.
func (l *look) widerKey(c *topology.Collection) []Command {
	if c.Key.Hashed() >= 0 && c.Key.Len() == 1 {
		return nil // one document's rows: no further field of the profile's
	}
	if !l.release().AtLeast(4, 4, 0) {
		return nil
	}
	wider := keyText(c.Key, "_id")
	return []Command{
		check("db.version()", "refine.version"),
		do(collection(c.NS)+".createIndex("+wider+")", "refine.index"),
		do(admin("refineCollectionShardKey: %s, key: %s", sanitize.Quoted(string(c.NS)), wider), "refine.refine"),
	}
}
