package rules

import (
	"slices"

	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// From which part of a collection's writes, and from how many times the mean of
// its chunks, one chunk is called hot. The rate, rows and time of hotRate,
// hotRows and hotSeconds hold too.
const (
	hotChunkShare = 0.25
	hotChunkTimes = 4
)

// ChunkWrites is what one chunk took, and what a split through it would do.
type ChunkWrites struct {
	Min   shardkey.Key // its lower bound: positions change with every split
	Line  heat.Line
	Split heat.Splitting
}

// hotOne is a chunk that takes much more than its part.
type hotOne struct {
	c  *topology.Collection
	w  Writes
	x  ChunkWrites
	ch topology.Chunk
}

// hotOnes are the hot chunks of all collections that are counted long enough. A
// chunk whose writes are one document's is hot in a collection of few chunks too.
func (l *look) hotOnes() (out []hotOne) {
	for _, w := range l.Writes {
		c := l.Table.Collection(w.NS)
		if c == nil || c.Chunks == nil {
			continue
		}
		if w.Seconds < hotSeconds {
			if w.Failed {
				l.cannot(string(w.NS), "countedPart", "ns", string(w.NS))
			} else {
				l.cannot(string(w.NS), "tooShort", "seconds", itoa(int(w.Seconds)))
			}
			continue
		}
		for _, x := range w.Chunks {
			_, ch := c.Chunks.Find(x.Min)
			r := x.Line.Rate
			if ch.Min.Compare(x.Min) != 0 || r.PerSecond < hotRate || r.Rows < hotRows || r.Share < hotChunkShare {
				continue
			}
			if r.Share*float64(c.Chunks.Len()) >= hotChunkTimes || undividable(x.Split) && r.Share >= hotShare {
				out = append(out, hotOne{c, w, x, ch})
			}
		}
	}
	return out
}

// undividable tells whether almost all writes are of one shard-key value, so that
// no split divides them.
func undividable(s heat.Splitting) bool {
	return s.Code == "document" || s.Code == "single" || s.Code == "project"
}

// hotChunk: one chunk takes much of a collection's writes, and they can be divided,
// or it is not known of what they are.
func hotChunk(l *look) {
	if len(l.Table.Shards) < 2 || l.counting() {
		return
	}
	for _, h := range l.hotOnes() {
		if undividable(h.x.Split) {
			continue // that is a hot document
		}
		p := l.hotOf(h)
		p.Text = say("hotChunk", "ns", string(h.c.NS), "shard", h.ch.Shard, "share", f64(h.x.Line.Rate.Share))
		p.Remedy = l.coolDown(h)
		l.add(p)
	}
}

// hotDocument: the writes of one document, or of one project where the key ends
// with it, make a chunk hot. They have one shard-key value, so no split helps.
func hotDocument(l *look) {
	if len(l.Table.Shards) < 2 || l.counting() {
		return
	}
	for _, h := range l.hotOnes() {
		if !undividable(h.x.Split) {
			continue
		}
		p := l.hotOf(h)
		s, rate := h.x.Split, h.x.Line.Rate
		args := []string{"ns", string(h.c.NS), "shard", h.ch.Shard, "share", f64(rate.Share), "shareOwn", f64(s.Share), "key", h.c.Key.String()}
		switch s.Code {
		case "document":
			p.Document = s.Document.Hex()
			p.Subject = string(h.c.NS) + " " + p.Document
			p.Text = say("hotDocument", append(args, "document", p.Document)...)
			p.Evidence = append(p.Evidence, part(say("hotDocument.share", "document", p.Document), s.Share, h.w))
		case "project":
			p.Subject = string(h.c.NS) + " " + p.Project
			p.Text = say("hotDocument.project", append(args, "name", l.nameOf(p.Project))...)
			p.Evidence = append(p.Evidence, part(say("hotDocument.share", "document", l.nameOf(p.Project)), s.Share, h.w))
		default:
			p.Text = say("hotDocument.single", args...)
		}
		p.Remedy = l.coolDown(h)
		l.add(p)
	}
}

func (l *look) nameOf(project string) string {
	if name, ok := l.project(project); ok {
		return name
	}
	return project
}

// hotOf is what problems of hot chunks have in common.
func (l *look) hotOf(h hotOne) Problem {
	ns, rate0 := string(h.c.NS), h.x.Line.Rate
	p := Problem{Subject: ns + " " + h.c.Key.ExtJSON(h.ch.Min), NS: h.c.NS, Shard: h.ch.Shard, Chunk: h.ch.Min, Severity: Info, Why: say("hot.some"), Weight: rate0.PerSecond,
		Evidence: []Evidence{
			rate(say("hotChunk.rate", "ns", ns), rate0, h.w),
			part(say("hotChunk.share", "ns", ns), rate0.Share, h.w),
			l.counted("hotChunk.chunks", h.c.Chunks.Len(), "ns", ns),
			l.text(evidenceHotMin, h.c.Key.ExtJSON(h.ch.Min), topology.PartRouting),
			l.text("hot.key", h.c.Key.String(), topology.PartRouting),
			l.text("hot.shard", h.ch.Shard, topology.PartRouting),
		}}
	if !h.x.Line.Top.IsZero() && (h.x.Line.TopShare >= hotShare || h.x.Split.Code == "project") {
		p.Project = h.x.Line.Top.Hex()
	}
	if rate0.PerSecond >= hotMuchRate {
		p.Severity, p.Why = Warn, say("hot.much")
	}
	return p
}

// coolDown is what helps a hot chunk: a split where that divides the load, else a
// move away from what else its shard takes, else why nothing does.
func (l *look) coolDown(h hotOne) Remedy {
	ns := string(h.c.NS)
	if h.x.Split.HotCut() {
		return Remedy{Plans: []Plan{
			plan("split-hot", say("split-hot", "ns", ns, "shard", h.ch.Shard), "ns", ns, "bounds", bounds(h.c, h.ch)),
			plan("split", say("split.hot", "ns", ns, "shard", h.ch.Shard), "ns", ns, "bounds", bounds(h.c, h.ch))}}
	}
	switch h.x.Split.Code {
	case "divides", "projects", "within":
		return Remedy{Plans: []Plan{plan("split", say("split.hot", "ns", ns, "shard", h.ch.Shard), "ns", ns, "bounds", bounds(h.c, h.ch))}}
	case "document":
		return l.moveAway(h, "hotDocument.oneDocument")
	case "project":
		return l.moveAway(h, "hotDocument.oneProject")
	case "single":
		return l.moveAway(h, "hotDocument.oneValue")
	}
	return Remedy{WhyNot: say("hotChunk.unknown"), Commands: []Command{check(collection(h.c.NS)+".getShardDistribution()", "hotChunk.look")}}
}

// moveAway moves a chunk that no split divides to the shard with fewest writes,
// where that shard is then still below what the chunk's own shard takes now.
func (l *look) moveAway(h hotOne, whyNoSplit string) Remedy {
	r := Remedy{WhyNot: say(whyNoSplit, "key", h.c.Key.String())}
	to := l.calmest(h)
	if to == "" {
		r.WhyNot.Code += "Nowhere"
		return r
	}
	r.Plans = []Plan{plan("move", say("move.hot", "ns", string(h.c.NS), "shard", h.ch.Shard, "to", to), "ns", string(h.c.NS), "bounds", bounds(h.c, h.ch), "to", to)}
	return r
}

// calmest is the shard that a hot chunk would be better on; "" if there is none.
func (l *look) calmest(h hotOne) string {
	i, _ := h.c.Chunks.Find(h.ch.Min)
	zone, straddles := l.Table.ZoneOf(h.c, i)
	if straddles || h.c.Resharding || h.c.MigrationsBlocked {
		return ""
	}
	writes, _ := l.shardWrites()
	best := ""
	for _, s := range l.Table.Shards { // by name
		if s.Name == h.ch.Shard || s.Draining || zone != "" && !slices.Contains(s.Zones, zone) {
			continue
		}
		if best == "" || writes[s.Name].PerSecond < writes[best].PerSecond {
			best = s.Name
		}
	}
	if best == "" || writes[best].PerSecond+h.x.Line.Rate.PerSecond >= writes[h.ch.Shard].PerSecond {
		return ""
	}
	return best
}
