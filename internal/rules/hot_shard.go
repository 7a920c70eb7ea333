package rules

import (
	"shardboard/internal/heat"
)

// A shard is hot from twice its fair part of all counted writes on, of two shards
// from three quarters; from three times, at hotMuchRate, it costs everybody on it.
const (
	hotShardTimes = 2
	hotShardMuch  = 3
	hotShardOfTwo = 0.75
)

// shardWrites is what each shard takes of all collections that are counted; a
// shard that owns nothing of them takes nothing.
func (l *look) shardWrites() (by map[string]heat.Rate, total heat.Rate) {
	by = map[string]heat.Rate{}
	total.Exact = true
	for _, w := range l.Writes {
		for _, line := range w.Shards {
			r := by[line.Shard]
			r.PerSecond += line.Rate.PerSecond
			r.Rows += line.Rate.Rows
			r.PlusMinus += line.Rate.PlusMinus
			r.AtLeast = r.AtLeast || line.Rate.AtLeast
			by[line.Shard] = r
			total.PerSecond += line.Rate.PerSecond
			total.Rows += line.Rate.Rows
		}
	}
	return by, total
}

// hotShard: one shard takes far more than its part of the writes.
func hotShard(l *look) {
	able := 0
	for _, s := range l.Table.Shards {
		if !s.Draining {
			able++
		}
	}
	if able < 2 || l.counting() {
		return
	}
	var longest Writes // for the times of the evidence
	for _, w := range l.Writes {
		if w.Failed && w.Seconds < hotSeconds {
			l.cannot("", "countedPart", "ns", string(w.NS))
			return
		}
		if w.Seconds > longest.Seconds {
			longest = w
		}
	}
	if longest.Seconds < hotSeconds {
		l.cannot("", "tooShort", "seconds", itoa(int(longest.Seconds)))
		return
	}
	by, total := l.shardWrites()
	if total.PerSecond <= 0 {
		return
	}
	fair := 1 / float64(able)
	from, much := hotShardTimes*fair, hotShardMuch*fair
	if able == 2 {
		from, much = hotShardOfTwo, hotShardOfTwo
	}
	for _, s := range l.Table.Shards {
		r := by[s.Name]
		r.Share = r.PerSecond / total.PerSecond
		if r.Share < from || r.PerSecond < hotRate || r.Rows < hotRows {
			continue
		}
		p := Problem{Subject: s.Name, Shard: s.Name, Severity: Info, Why: say("hot.some"), Weight: r.PerSecond,
			Text: say("hotShard", "shard", s.Name, "share", f64(r.Share), "shareFair", f64(fair)),
			Evidence: []Evidence{
				rate(say("hotShard.rate", "shard", s.Name), r, longest),
				part(say("hotShard.share"), r.Share, longest),
				rate(say("hotShard.all"), total, longest),
			}}
		if r.Share >= min(much, 0.9) && r.PerSecond >= hotMuchRate {
			p.Severity, p.Why = Warn, say("hot.much")
		}
		p.Remedy = l.coolShard(&p, s.Name)
		l.add(p)
	}
}

// coolShard is what helps the shard's busiest chunk.
func (l *look) coolShard(p *Problem, shard string) Remedy {
	var top hotOne
	for _, w := range l.Writes {
		c := l.Table.Collection(w.NS)
		if c == nil || c.Chunks == nil {
			continue
		}
		for _, x := range w.Chunks {
			if _, ch := c.Chunks.Find(x.Min); ch.Shard == shard && ch.Min.Compare(x.Min) == 0 && x.Line.Rate.PerSecond > top.x.Line.Rate.PerSecond {
				top = hotOne{c, w, x, ch}
			}
		}
	}
	if top.c == nil {
		return Remedy{WhyNot: say("hotShard.manyChunks")}
	}
	p.NS, p.Chunk = top.c.NS, top.ch.Min
	p.Evidence = append(p.Evidence, rate(say("hotShard.chunk", "ns", string(top.c.NS)), top.x.Line.Rate, top.w))
	return l.coolDown(top)
}
