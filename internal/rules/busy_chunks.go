package rules

import (
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// From which part of a collection's writes, and from how many times the mean of
// its chunks, one chunk is called hot. The rate, rows and time of BoundHotRate,
// hotRows and hotSeconds hold too.
const (
	hotChunkShare = 0.25
	hotChunkTimes = 4
)

// ChunkWrites are the writes to one chunk, and what a split of it would do.
type ChunkWrites struct {
	Min   shardkey.Key // its lower bound: positions change with every split
	Line  heat.Line
	Split heat.Splitting
}

// busyChunk is a chunk that takes much more than its share of the writes.
type busyChunk struct {
	c  *topology.Collection
	w  Writes
	x  ChunkWrites
	ch topology.Chunk
}

// busyChunks are those of all collections that have been counted long enough. A chunk
// whose writes have one shard-key value is listed in a collection of few chunks too.
func (ev *evaluation) busyChunks() (out []busyChunk) {
	for _, w := range ev.Writes {
		c := ev.Table.Collection(w.NS)
		if c == nil || c.Chunks == nil {
			continue
		}
		if w.Seconds < ev.neededSeconds() {
			if w.Failed {
				ev.cannot(string(w.NS), uncountable(w.NS))
			} else {
				ev.cannot(string(w.NS), countedBriefly(w))
			}
			continue
		}
		for _, x := range w.Chunks {
			_, ch := c.Chunks.Find(x.Min)
			r := x.Line.Rate
			if ch.Min.Compare(x.Min) != 0 || r.PerSecond < ev.bound(BoundHotRate) || r.Rows < hotRows || r.Share < hotChunkShare {
				continue
			}
			if r.Share*float64(c.Chunks.Len()) >= hotChunkTimes || oneValue(x.Split) && r.Share >= hotShare {
				out = append(out, busyChunk{c, w, x, ch})
			}
		}
	}
	return out
}

// oneValue tells whether almost all writes have one shard-key value, so that no split
// divides them.
func oneValue(s heat.Splitting) bool {
	return s.Code == "document" || s.Code == "single" || s.Code == "project"
}

// busyChunkProblem is the common part of problems of hot chunks.
func (ev *evaluation) busyChunkProblem(h busyChunk) Problem {
	ns, rate0 := string(h.c.NS), h.x.Line.Rate
	p := Problem{
		Subject:   ns + " " + h.c.Key.ExtJSON(h.ch.Min),
		NS:        h.c.NS,
		Shard:     h.ch.Shard,
		Chunk:     h.ch.Min,
		Severity:  Info,
		Why:       moderateLoad(),
		Weight:    rate0.PerSecond,
		PerSecond: rate0.PerSecond,
		Evidence: []Evidence{
			rate(message.New("hotChunk.rate", "Writes to the chunk", message.Namespace("ns", ns)), rate0, h.w),
			shareOf(message.New("hotChunk.share", "Share of the writes to {ns}", message.Namespace("ns", ns)), rate0.Share, h.w),
			ev.counted(message.New("hotChunk.chunks", "Chunks of {ns}", message.Namespace("ns", ns)), h.c.Chunks.Len()),
			ev.text(message.New("hotChunk.min", "The chunk begins at"), message.Key("value", h.c.Key.ExtJSON(h.ch.Min)), topology.PartRouting),
			ev.shardKey(h.c),
			ev.onShard(h.ch.Shard, topology.PartRouting),
		},
	}
	if !h.x.Line.Top.IsZero() && (h.x.Line.TopShare >= hotShare || h.x.Split.Code == "project") {
		p.Project = h.x.Line.Top.Hex()
	}
	if rate0.PerSecond >= ev.bound(BoundWarnRate) {
		p.Severity, p.Why = Warn, heavyLoad()
	}
	return p
}

// relieve is the remedy for a busy chunk: a split at its writes where that divides the load, and a move of the whole
// chunk to a shard with fewer writes. A split alone moves no writes. How much each helps is computed from its draft
// where the problem is shown.
func (ev *evaluation) relieve(h busyChunk) Remedy {
	ns := string(h.c.NS)
	switch h.x.Split.Code {
	case "document", "project", "single":
		return ev.moveAway(h)
	}
	var r Remedy
	if h.x.Split.HotCut() {
		r.Plans = []Plan{plan("split-hot", message.New("split-hot",
			"Split the hot chunk of {ns} on {shard} at the median of its recent writes, and move one half.",
			message.Namespace("ns", ns), message.Shard("shard", h.ch.Shard)), "ns", ns, "bounds", bounds(h.c, h.ch))}
	} else {
		r.WhyNot = message.New("hotChunk.unknown",
			"It is not known which documents or projects are written, so it is not known whether a split helps.")
		r.Commands = []Command{readCommand(collection(h.c.NS)+".getShardDistribution()", "hotChunk.look", "how the collection is spread")}
	}
	if to := ev.leastBusy(h); to != "" {
		r.Plans = append(r.Plans, moveChunk(h, to))
	}
	return r
}

// moveChunk moves a whole busy chunk.
func moveChunk(h busyChunk, to string) Plan {
	return plan("move", message.New("move.hot",
		"Move the chunk of {ns} with {rate} writes/s from {shard} to {to}, which takes fewer writes.",
		message.Rate("rate", h.x.Line.Rate.PerSecond), message.Namespace("ns", h.c.NS), message.Shard("shard", h.ch.Shard),
		message.Shard("to", to)), "ns", string(h.c.NS), "bounds", bounds(h.c, h.ch), "to", to)
}

func moderateLoad() message.Message {
	return message.New("hot.some", "One shard takes more than its share. The load is moderate.")
}

func heavyLoad() message.Message {
	return message.New("hot.much", "Everything else on that shard becomes slower.")
}
