package rules

import (
	"strings"

	"shardboard/internal/balance"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// unevenBy is how many times the mean the fullest shard holds, and unevenChunks
// how many chunk sizes it is above the emptiest, for data to be uneven.
const (
	unevenBy     = 1.4
	unevenChunks = 3
)

// imbalance: data that is uneven and that the balancer leaves so.
func imbalance(l *look) {
	if b := l.Table.Balancer; b.Known && (!b.Enabled() || b.Mode == "autoSplitOnly") || len(l.Table.Shards) < 2 {
		return // told by its own rule; nothing to be even with
	}
	for _, c := range l.sharded() {
		most, least, mean, ok := l.extremes(c)
		if !ok {
			if c.Chunks.Len() > 1 {
				l.cannot(string(c.NS), "noSizes")
			}
			continue
		}
		size := l.chunkBytes(c)
		if size <= 0 {
			l.cannot(string(c.NS), "noChunkSize")
			continue
		}
		if float64(most.value.Value) < unevenBy*mean || most.value.Value-least.value.Value < unevenChunks*size {
			continue
		}
		p := l.plan(c)
		if moves := p.Moves(); len(moves) > 0 && p.Explain(moves[0].Chunk).Decision != balance.Stays {
			continue // it repairs that
		}
		e := l.fullest(c, p, most.shard)
		if e.Decision == balance.Moves || e.Decision == balance.Waiting {
			continue
		}
		if e.Decision == balance.Undecided {
			l.cannot(string(c.NS), "undecided")
			continue
		}
		l.leftUneven(c, most, least, mean, blocker(e))
	}
}

type onShard struct {
	shard string
	value topology.Figure
}

// extremes are the shards with most and least of a collection, among those that
// may hold any of it; not ok when one of them is not known.
func (l *look) extremes(c *topology.Collection) (most, least onShard, mean float64, ok bool) {
	var total float64
	n := 0
	for _, s := range l.Table.Shards {
		if s.Draining {
			continue
		}
		f := l.Table.SizeOn(c.NS, s.Name).Bytes
		if !f.Known {
			return most, least, 0, false
		}
		if n == 0 || f.Value > most.value.Value {
			most = onShard{s.Name, f}
		}
		if n == 0 || f.Value < least.value.Value {
			least = onShard{s.Name, f}
		}
		total += float64(f.Value)
		n++
	}
	if n < 2 {
		return most, least, 0, false
	}
	return most, least, total / float64(n), true
}

// fullest is what the balancer says of a chunk of the fullest shard that is not
// flagged, or of its first one when all are.
func (l *look) fullest(c *topology.Collection, p *balance.Plan, shard string) balance.Explanation {
	first := -1
	for i, ch := range c.Chunks.All() {
		if ch.Shard != shard {
			continue
		}
		if !ch.Jumbo {
			return p.Explain(i)
		}
		if first < 0 {
			first = i
		}
	}
	if first < 0 {
		return balance.Explanation{Decision: balance.Stays}
	}
	return p.Explain(first)
}

func (l *look) leftUneven(c *topology.Collection, most, least onShard, mean float64, why Message) {
	ns := string(c.NS)
	counts := c.Chunks.CountByShard()
	i := Problem{Subject: ns, NS: c.NS, Shard: most.shard, Severity: Warn, Why: say("imbalance.stays"), Weight: float64(most.value.Value) / max(mean, 1),
		Text:    say("imbalance", "ns", ns, "shard", most.shard, "times", f64(float64(most.value.Value)/max(mean, 1))),
		Because: why,
		Evidence: []Evidence{
			figure(say("imbalance.most", "shard", most.shard), "bytes", most.value),
			figure(say("imbalance.least", "shard", least.shard), "bytes", least.value),
			l.counted("imbalance.chunks", counts[most.shard], "shard", most.shard),
			l.counted("imbalance.chunks", counts[least.shard], "shard", least.shard),
		}}
	switch {
	case c.NoBalance:
		i.Remedy.Plans = []Plan{balanceCollection(ns)}
		i.Remedy.Commands = []Command{do("sh.enableBalancing("+sanitize.Quoted(ns)+")", "imbalance.enable")}
	case strings.HasPrefix(why.Code, string(balance.RuleThreshold)+".count"):
		// Up to 6.0.2 chunks are counted, whatever they weigh.
		i.Text.Code = "imbalance.counts"
		if ch, ok := l.firstOn(c, most.shard); ok && !l.single(c, ch) {
			i.Remedy.Plans = []Plan{plan("split", say("split", "ns", ns, "shard", most.shard), "ns", ns, "bounds", bounds(c, ch), "parts", "2")}
		} else {
			i.Remedy.WhyNot = say("imbalance.single")
		}
	case strings.HasPrefix(why.Code, string(balance.RuleJumbo)):
		i.Remedy.WhyNot = say("imbalance.jumbo")
	case strings.HasPrefix(why.Code, string(balance.RuleMigrations)):
		i.Remedy.WhyNot = say("imbalance.blocked")
		i.Remedy.Commands = []Command{do(admin("setAllowMigrations: %s, allowMigrations: true", sanitize.Quoted(ns)), "imbalance.allow")}
	default:
		i.Remedy.WhyNot = say("imbalance.rule")
		i.Remedy.Commands = []Command{check(admin("balancerCollectionStatus: %s", sanitize.Quoted(ns)), "imbalance.status")}
	}
	l.add(i)
}

func (l *look) firstOn(c *topology.Collection, shard string) (topology.Chunk, bool) {
	for _, ch := range c.Chunks.All() {
		if ch.Shard == shard && !ch.Jumbo {
			return ch, true
		}
	}
	return topology.Chunk{}, false
}
