package rules

import (
	"bytes"
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/message"
)

// A shard is hot from twice an even share of all counted writes on, of two shards from
// three quarters on. From three times and BoundWarnRate on the rest of the shard suffers.
const (
	hotShardTimes = 2
	hotShardMuch  = 3
	hotShardOfTwo = 0.75
)

// HotShard finds shards that take far more than an even share of the writes.
const HotShard Rule = "hot-shard"

var hotShard = rule{id: HotShard, name: "Hot shard", page: PageHeat, ofWrites: true, find: findHotShard,
	playbooks: []Playbook{PlaybookHotProject}}

func findHotShard(ev *evaluation) {
	able := 0
	for _, s := range ev.Table.Shards {
		if !s.Draining {
			able++
		}
	}
	if able < 2 || ev.uncounted() {
		return
	}
	var longest Writes // for the times of the evidence
	for _, w := range ev.Writes {
		if w.Failed && w.Seconds < ev.neededSeconds() {
			ev.cannot("", uncountable(w.NS))
			return
		}
		if w.Seconds > longest.Seconds {
			longest = w
		}
	}
	if longest.Seconds < ev.neededSeconds() {
		ev.cannot("", countedBriefly(longest))
		return
	}
	by, total := ev.shardWrites()
	if total.PerSecond <= 0 {
		return
	}
	fair := 1 / float64(able)
	from, much := hotShardTimes*fair, hotShardMuch*fair
	if able == 2 {
		from, much = hotShardOfTwo, hotShardOfTwo
	}
	for _, s := range ev.Table.Shards {
		r := by[s.Name]
		r.Share = r.PerSecond / total.PerSecond
		if r.Share < from || r.PerSecond < ev.bound(BoundHotRate) || r.Rows < hotRows {
			continue
		}
		p := Problem{
			Subject:   s.Name,
			Shard:     s.Name,
			Severity:  Info,
			Why:       moderateLoad(),
			Weight:    r.PerSecond,
			PerSecond: r.PerSecond,
			Text: message.New("hotShard",
				"{shard} takes {share} of the counted writes in the last {window}; its even share is {shareFair}.",
				message.Shard("shard", s.Name), message.Last("window", longest.Over), message.Share("share", r.Share),
				message.Share("shareFair", fair)),
			Evidence: []Evidence{
				rate(message.New("hotShard.rate", "Writes to {shard}", message.Shard("shard", s.Name)), r, longest),
				shareOf(message.New("hotShard.share", "Share of all counted writes"), r.Share, longest),
				rate(message.New("hotShard.all", "Writes to all shards"), total, longest),
			},
		}
		if r.Share >= min(much, 0.9) && r.PerSecond >= ev.bound(BoundWarnRate) {
			p.Severity, p.Why = Warn, heavyLoad()
		} else if r.Share >= ev.bound(BoundWarnShare) {
			p.Severity = Warn
			p.Why = message.New("hot.most", "One shard does almost all of the work, so the others do not help it.")
		}
		ev.nameWriters(&p, ev.writersOn(s.Name, r.PerSecond))
		p.Remedy = ev.relieveShard(&p, s.Name)
		ev.add(p)
	}
}

// writer is a project with its share of a shard's writes.
type writer struct {
	id    bson.ObjectID
	share float64
}

// writerShare is from which share of a shard's writes on a project is named.
const writerShare = 0.2

// writersOn are the projects that together make more than half of a shard's writes, with writerShare each, the busiest
// first; none where they are not known to, as far as the writes of the shard's busiest chunks tell.
func (ev *evaluation) writersOn(shard string, perSecond float64) (out []writer) {
	by := map[bson.ObjectID]float64{}
	for _, w := range ev.Writes {
		c := ev.Table.Collection(w.NS)
		if c == nil || c.Chunks == nil {
			continue
		}
		for _, x := range w.Chunks {
			if _, ch := c.Chunks.Find(x.Min); ch.Shard == shard && !x.Line.Top.IsZero() {
				by[x.Line.Top] += x.Line.Rate.PerSecond * x.Line.TopShare
			}
		}
	}
	sum := 0.0
	for id, writes := range by {
		if share := writes / perSecond; share >= writerShare {
			out, sum = append(out, writer{id, share}), sum+share
		}
	}
	if sum <= hotShare {
		return nil
	}
	slices.SortFunc(out, func(a, b writer) int { return cmp.Or(cmp.Compare(b.share, a.share), bytes.Compare(a.id[:], b.id[:])) })
	return out
}

// nameWriters names the projects that make most of a hot shard's writes.
func (ev *evaluation) nameWriters(p *Problem, by []writer) {
	if len(by) == 0 {
		return
	}
	if by[0].share > hotShare {
		p.Project = by[0].id.Hex()
	}
	facts := append(slices.Clone(p.Text.Facts), message.Project("name", by[0].id.Hex(), ev.nameOf(by[0].id.Hex())))
	if len(by) == 1 {
		p.Text = message.New("hotShard.project", "{shard} takes {share} of the counted writes in the last {window}, most of them for the "+
			"project {name}; its even share is {shareFair}.", facts...)
		return
	}
	facts = append(facts, message.Share("shareOf", by[0].share), message.Share("shareOther", by[1].share),
		message.Project("other", by[1].id.Hex(), ev.nameOf(by[1].id.Hex())))
	p.Text = message.New("hotShard.projects", "{shard} takes {share} of the counted writes in the last {window}, {shareOf} of them for the "+
		"project {name} and {shareOther} for {other}; its even share is {shareFair}.", facts...)
}

// relievedChunks is how many of a shard's busiest chunks are considered to be split or moved, and relievedRate from how
// many writes per second on; hotRows must have been counted too.
const (
	relievedChunks = 3
	relievedRate   = 1.0
)

// relieveShard is the remedy for the shard's busiest chunks.
func (ev *evaluation) relieveShard(p *Problem, shard string) Remedy {
	busy := ev.busiestOn(shard)
	if len(busy) == 0 {
		return Remedy{WhyNot: message.New("hotShard.manyChunks",
			"No chunk on it is known to take 1 write/s or more, so no chunk to split or move is known.")}
	}
	top := busy[0]
	p.NS, p.Chunk = top.c.NS, top.ch.Min
	p.Evidence = append(p.Evidence, rate(message.New("hotShard.chunk",
		"Its busiest chunk, in {ns}",
		message.Namespace("ns", top.c.NS)), top.x.Line.Rate, top.w))
	return ev.relieveAll(busy)
}

// relieveAll is the remedy for the first of some chunks, and the moves of the others.
func (ev *evaluation) relieveAll(busy []busyChunk) Remedy {
	r := ev.relieve(busy[0])
	for _, h := range busy[1:] {
		r.Plans = append(r.Plans, ev.relieve(h).Plans...)
	}
	return r
}

// busiestOn are the busiest chunks on a shard, the busiest first.
func (ev *evaluation) busiestOn(shard string) (out []busyChunk) {
	for _, w := range ev.Writes {
		c := ev.Table.Collection(w.NS)
		if c == nil || c.Chunks == nil {
			continue
		}
		for _, x := range w.Chunks {
			_, ch := c.Chunks.Find(x.Min)
			if ch.Shard == shard && ch.Min.Compare(x.Min) == 0 && x.Line.Rate.PerSecond >= relievedRate && x.Line.Rate.Rows >= hotRows {
				out = append(out, busyChunk{c, w, x, ch})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b busyChunk) int { return cmp.Compare(b.x.Line.Rate.PerSecond, a.x.Line.Rate.PerSecond) })
	return out[:min(len(out), relievedChunks)]
}
