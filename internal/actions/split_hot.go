package actions

import (
	"maps"
	"slices"
	"strings"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// maxHotChunks is the highest number of chunks of one plan.
const maxHotChunks = 16

// hotChunk is a chunk that is split by its recent writes, and one half of which moves.
type hotChunk struct {
	lo, hi key // bounds of the chunk when the split was chosen
	at     key // zero until it is chosen
	given  bool
	owner  string
	writes topology.RangeWrites
	// Rows a second written to [lo, at) and to [at, hi).
	lower, upper float64
	half, to     string
	pieces       int // 0: the half moves as one
}

// movingHalf returns the half that moves, and the rows a second that are written to it.
func (h hotChunk) movingHalf() (lo, hi key, rate float64) {
	if h.half == HalfLower {
		return h.lo, h.at, h.lower
	}
	return h.at, h.hi, h.upper
}

// divideWrites computes the writes to each half.
func (h *hotChunk) divideWrites() {
	all, below := int64(0), int64(0)
	for _, k := range h.writes.Keys {
		all += k.Rows
		if k.Key.Compare(h.at) < 0 {
			below += k.Rows
		}
	}
	if all == 0 {
		return
	}
	h.lower = h.writes.PerSecond * float64(below) / float64(all)
	h.upper = h.writes.PerSecond - h.lower
}

// SplitHot splits chunks of one collection at the median of their recent writes and
// moves one half of each to the shard with the fewest writes. The plan's arguments come
// back with the choices as cuts. Planning again from cuts chooses nothing new and plans
// only what is left to do.
const SplitHot Kind = "split-hot"

func describeSplitHot() Description {
	return Description{
		Kind:    SplitHot,
		AnyTime: true,
		Title:   "Split a hot chunk by its writes",
		Lead: "Splits the chunk at the median of its recent writes, and moves one half to the shard with the fewest writes. " +
			"One plan can split up to 16 hot chunks of one collection.",
		Proof: "A chunk begins at each new bound, and the moved halves are on their shards.",
		Undo:  "Moves the halves back and merges them.",
		Arguments: []Argument{argNS.needed(), argChunk.or("bounds", "chunks", "cuts"), argBounds, argChunks.or("chunk", "bounds", "cuts"),
			argAt.or("chunks", "cuts").help("The shard key to split at, as Extended JSON. Leave empty to split at the median of the recent writes."),
			argTo.or("cuts").emptyMeans("chosen by the plan").
				help("The shard to move to. If left empty, the plan chooses the shard that makes the writes of all shards most even."),
			argCuts, argPause},
		Adapts: true,
		plan:   planSplitHot,
	}
}

func planSplitHot(d *draftBuilder) (Draft, Args, error) {
	s, a, c := d.s, d.a, d.c
	var err error
	var hot []*hotChunk
	if len(a.Cuts) > 0 {
		hot, err = d.chunksOfCuts(c)
	} else {
		hot, err = d.chunksToSplit(c)
	}
	if err != nil {
		return Draft{}, d.a, err
	}
	for _, h := range hot {
		d.needs.Writes = append(d.needs.Writes, Span{NS: c.NS, Min: h.lo, Max: h.hi})
		h.writes = s.Writes.of(c.NS, h.lo, h.hi)
		h.owner = d.future(c).at(h.lo).Shard
	}
	named := len(hot)
	if len(a.Cuts) > 0 {
		for _, h := range hot {
			h.divideWrites()
			d.add(d.checkGivenSplit(c, h))
		}
	} else {
		hot = d.chooseSplits(c, hot)
		for _, h := range hot {
			h.pieces = d.piecesToMove(c, h)
		}
		d.storeCuts(c, hot)
	}
	d.splitAndMove(c, hot)
	if c.MigrationsBlocked && len(d.moves) == 0 { // which half moves is not chosen yet, and none can
		d.block("migrations-blocked", d.fromTable(topology.PartRouting), movesBlocked(c.NS))
	}
	undo := Undo{Possible: true, Text: message.New("split-hot",
		"Moves the half back and merges both halves.",
		message.Count("chunks", len(hot)))}
	if len(hot) > 1 {
		undo.Text.Code = "split-hot.many"
		undo.Text.Pattern = "Moves the halves back and merges {chunks} chunks again."
	}
	return d.finish(d.hotSummary(c, hot, named), undo)
}

// maxPieces is the highest number of pieces of a half: more are not measured for one plan.
const maxPieces = 8

// piecesToMove is in how many pieces a half has to move, so that each has no more documents than its shard moves at
// once; 0 where it moves as one, or where no number of pieces helps. Pieces are measured like everything that moves,
// and there are more of them where one is too large.
func (d *draftBuilder) piecesToMove(c *topology.Collection, h *hotChunk) int {
	lo, hi, _ := h.movingHalf()
	tooLarge := func(lo, hi key) bool {
		size, measured := d.s.Measured.Ranges[Span{NS: c.NS, Min: lo, Max: hi}]
		l := d.s.moveLimit(c, h.owner, size)
		return measured && l.known && size.Documents > l.documents
	}
	if !tooLarge(lo, hi) {
		return 0
	}
	for n := 2; n <= maxPieces; n *= 2 {
		bounds := d.pieceBounds(c, h, n)
		if bounds == nil {
			return 0
		}
		some, from := false, lo
		for _, to := range append(bounds, hi) {
			some, from = some || tooLarge(from, to), to
		}
		if !some {
			return n
		}
	}
	return 0
}

// pieceBounds divides the half that moves.
func (d *draftBuilder) pieceBounds(c *topology.Collection, h *hotChunk, n int) []key {
	if n < 2 {
		return nil
	}
	lo, hi, _ := h.movingHalf()
	bounds, _ := d.equalParts(c, shardkey.Range{Min: lo, Max: hi}, n)
	return bounds
}

// splitAndMove plans the steps that are left: first all splits, while the chunks still
// have the versions of the table, then the moves, the hottest first.
func (d *draftBuilder) splitAndMove(c *topology.Collection, hot []*hotChunk) {
	k := d.future(c)
	for _, h := range hot {
		d.splitAt(k, h.at)
		for _, at := range d.pieceBounds(c, h, h.pieces) {
			d.splitAt(k, at)
		}
	}
	rates := d.shardRates(hot)
	after := maps.Clone(rates)
	for _, h := range hot {
		lo, hi, rate := h.movingHalf()
		before := len(d.moves)
		for _, p := range slices.Clone(k.within(lo, hi)) {
			d.move(k, shardkey.Later(p.Min, lo), shardkey.Earlier(p.Max, hi), h.to)
		}
		if after != nil && len(d.moves) > before {
			after[d.moves[before].from] -= rate
			after[h.to] += rate
		}
	}
	if rates == nil || len(d.moves) == 0 {
		return
	}
	for _, s := range d.s.Table.Shards {
		d.writes = append(d.writes, WriteEffect{Shard: s.Name, Before: rates[s.Name], After: max(0, after[s.Name])})
	}
	slices.SortStableFunc(d.writes, func(a, b WriteEffect) int { return changesNothing(a) - changesNothing(b) })
}

func changesNothing(w WriteEffect) int {
	if w.Before != w.After {
		return 0
	}
	return 1
}

// hotSummary describes the plan in one sentence.
func (d *draftBuilder) hotSummary(c *topology.Collection, hot []*hotChunk, named int) message.Message {
	switch {
	case len(hot) == 0:
		return message.New("split-hot.none",
			message.Plural(named, "Split a hot chunk of {ns} by its writes: not possible, see the checks.",
				"Split {chunks} hot chunks of {ns} by their writes: not possible, see the checks."),
			message.Namespace("ns", c.NS), message.Count("chunks", named))
	case len(hot) == 1:
		h := hot[0]
		pattern := "Split the chunk {min} → {max} of {ns} on {shard} at {at} and move the upper half to {to}."
		if h.half == HalfLower {
			pattern = "Split the chunk {min} → {max} of {ns} on {shard} at {at} and move the lower half to {to}."
		}
		facts := []message.Fact{}
		if h.pieces > 0 {
			pattern = strings.TrimSuffix(pattern, ".") + " in {pieces} pieces."
			facts = append(facts, message.Count("pieces", h.pieces))
		}
		return message.New("split-hot."+h.half, pattern, append(facts, message.Namespace("ns", c.NS),
			message.Key("min", c.Key.Display(h.lo)),
			message.Key("max", c.Key.Display(h.hi)), message.Shard("shard", h.owner), message.Key("at", c.Key.Display(h.at)),
			message.Shard("to", h.to))...)
	}
	var to []string
	for _, h := range hot {
		to = append(to, h.to)
	}
	return message.New("split-hot.many",
		"Split {chunks} hot chunks of {ns} by their writes, and move one half of each to {shards}.",
		message.Namespace("ns", c.NS), message.Count("chunks", len(hot)), message.Text("shards", operation.Joined(natural.Unique(to))))
}
