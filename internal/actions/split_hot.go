package actions

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// maxHot bounds the chunks of one plan.
const maxHot = 16

// hotChunk is a chunk that is split where its recent writes divide, and of which
// one half moves.
type hotChunk struct {
	lo, hi key // of the chunk as it was when the split was chosen
	at     key // zero until it is chosen
	given  bool
	owner  string
	w      topology.RangeWrites
	// Rows a second in [lo, at) and in [at, hi).
	lower, upper float64
	half, to     string
}

// part is the half that moves, and its rows a second.
func (h hotChunk) part() (lo, hi key, rate float64) {
	if h.half == HalfLower {
		return h.lo, h.at, h.lower
	}
	return h.at, h.hi, h.upper
}

// measure divides the writes of the chunk at its split point.
func (h *hotChunk) measure() {
	all, below := int64(0), int64(0)
	for _, k := range h.w.Keys {
		all += k.Rows
		if k.Key.Compare(h.at) < 0 {
			below += k.Rows
		}
	}
	if all == 0 {
		return
	}
	h.lower = h.w.PerSecond * float64(below) / float64(all)
	h.upper = h.w.PerSecond - h.lower
}

// SplitHot splits chunks of one collection at the median of their recent writes and
// moves one half of each to where fewest writes are. The arguments come back with
// what was chosen as cuts: planned again from those, it plans what is left to do
// and chooses nothing anew.
const SplitHot Kind = "split-hot"

func describeSplitHot() Description {
	return Description{
		Kind:  SplitHot,
		Title: "Split a hot chunk where its writes are",
		Lead: "The chunk is split at the median of its recent writes, and one half moves to the shard that takes fewest writes. " +
			"Up to 16 hot chunks of one collection go into one plan.",
		Proof: "A chunk begins at each new bound, and the halves that move are on their shards.",
		Undo:  "Moving back and merging.",
		Arguments: []Argument{argNS.needed(), argChunk.or("bounds", "chunks", "cuts"), argBounds, argChunks.or("chunk", "bounds", "cuts"),
			argAt.or("chunks", "cuts").help("The shard key to split at, as Extended JSON. Leave empty to split at the median of the recent writes."),
			argTo.or(
				"cuts",
			).emptyMeans(
				"chosen by the plan",
			).help(
				"The shard to move to. When left to the plan: the shard that makes the writes of all shards most even.",
			),
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
		hot, err = d.cutsOf(c)
	} else {
		hot, err = d.hotChunks(c)
	}
	if err != nil {
		return Draft{}, d.a, err
	}
	for _, h := range hot {
		d.written = append(d.written, Span{NS: c.NS, Min: h.lo, Max: h.hi})
		h.w = s.Writes.of(c.NS, h.lo, h.hi)
		h.owner = d.future(c).at(h.lo).Shard
	}
	asked := len(hot)
	if len(a.Cuts) > 0 {
		for _, h := range hot {
			h.measure()
			d.checkGiven(c, h)
		}
	} else {
		hot = d.choose(c, hot)
		d.keep(c, hot)
	}
	d.splitAndMove(c, hot)
	undo := Undo{Possible: true, Text: message.New("split-hot",
		"The half that was moved is moved back, and both are merged again.",
		message.Count("chunks", len(hot)))}
	if len(hot) > 1 {
		undo.Text.Code = "split-hot.many"
		undo.Text.Pattern = "The halves that were moved are moved back, and {chunks} chunks are merged again."
	}
	return d.finish(d.hotSummary(c, hot, asked), undo)
}

// hotChunks are the chunks that the arguments name.
func (d *draftBuilder) hotChunks(c *topology.Collection) ([]*hotChunk, error) {
	a := d.a
	one := a.Chunk != "" || a.Bounds[0] != nil || a.Bounds[1] != nil
	switch {
	case !one && len(a.Chunks) == 0:
		return nil, missing(SplitHot, "chunk", "the reference of a chunk, its exact bounds as \"bounds\", or several references as \"chunks\"")
	case one && len(a.Chunks) > 0:
		return nil, fault.New(fault.Invalid,
			"The arguments \"chunks\" and \"chunk\" or \"bounds\" do not go together: name one chunk or several.")
	case len(a.Chunks) > maxHot:
		return nil, fault.New(fault.Invalid,
			"The argument \"chunks\" names %d chunks; one plan splits %d at most.", len(a.Chunks), maxHot)
	case len(a.Chunks) > 1 && a.At != nil:
		return nil, fault.New(fault.Invalid, "The argument \"at\" is one key, for one chunk; \"chunks\" names %d.", len(a.Chunks))
	}
	var hot []*hotChunk
	add := func(ch topology.Chunk) { hot = append(hot, &hotChunk{lo: ch.Min, hi: ch.Max}) }
	if one {
		_, ch, err := d.s.chunkOf(c, SplitHot, a)
		if err != nil {
			return nil, err
		}
		add(ch)
		d.resolved(c, ch)
	}
	for i, ref := range a.Chunks {
		_, ch, err := referred(c, ref)
		if err != nil {
			return nil, fault.Wrap(fault.Of(err), err, "The argument \"chunks\", number %d: %s", i+1, fault.Text(err))
		}
		if slices.ContainsFunc(hot, func(h *hotChunk) bool { return h.lo.Compare(ch.Min) == 0 }) {
			return nil, fault.New(fault.Invalid, "The argument \"chunks\" names one chunk twice: number %d.", i+1)
		}
		add(ch)
	}
	if a.At != nil {
		at, err := d.s.bound(c, "at", a.At)
		if err != nil {
			return nil, err
		}
		if h := hot[0]; at.Compare(h.lo) <= 0 || at.Compare(h.hi) >= 0 {
			return nil, fault.New(fault.Invalid,
				"The key of the argument \"at\" is not inside the chunk: it must be above its lower bound and below its upper one.")
		}
		hot[0].at, hot[0].given = at, true
	}
	return hot, nil
}

// cutsOf are the chunks with everything chosen. The chunks need not be as they
// were: a part of the work may be done.
func (d *draftBuilder) cutsOf(c *topology.Collection) ([]*hotChunk, error) {
	a := d.a
	for _, x := range Arguments() {
		if x.Given(a) && x.Name != "ns" && x.Name != "cuts" {
			return nil, fault.New(fault.Invalid, "The argument \"cuts\" says everything; %q does not go with it.", x.Name)
		}
	}
	if len(a.Cuts) > maxHot {
		return nil, fault.New(fault.Invalid, "The argument \"cuts\" has %d chunks; one plan splits %d at most.", len(a.Cuts), maxHot)
	}
	var hot []*hotChunk
	for i, cut := range a.Cuts {
		wrong := func(err error) error {
			return fault.Wrap(fault.Of(err), err, "The argument \"cuts\", number %d: %s", i+1, fault.Text(err))
		}
		h := &hotChunk{half: cut.Half, to: cut.To, given: true}
		var err error
		if h.lo, h.hi, err = d.s.ends(c, SplitHot, [2]bson.Raw{cut.Min, cut.Max}); err != nil {
			return nil, wrong(err)
		}
		if cut.At == nil {
			return nil, wrong(missing(SplitHot, "at", "the shard key to split at"))
		}
		if h.at, err = d.s.bound(c, "at", cut.At); err != nil {
			return nil, wrong(err)
		}
		if h.at.Compare(h.lo) <= 0 || h.at.Compare(h.hi) >= 0 {
			return nil, wrong(fault.New(fault.Invalid, "the key of \"at\" is not between \"min\" and \"max\"."))
		}
		if h.half != HalfLower && h.half != HalfUpper {
			return nil, wrong(fault.New(fault.Invalid, "\"half\" is %q; it is %q or %q.", h.half, HalfLower, HalfUpper))
		}
		if _, err := shardOf(d.s.Table, SplitHot, "to", h.to); err != nil {
			return nil, wrong(err)
		}
		r := shardkey.Range{Min: h.lo, Max: h.hi}
		if slices.ContainsFunc(hot, func(o *hotChunk) bool { return r.Overlaps(shardkey.Range{Min: o.lo, Max: o.hi}) }) {
			return nil, wrong(fault.New(fault.Invalid, "it overlaps one before it."))
		}
		hot = append(hot, h)
	}
	return hot, nil
}

// keep writes what was chosen into the arguments; they stay as they are when
// nothing could be.
func (d *draftBuilder) keep(c *topology.Collection, hot []*hotChunk) {
	if len(hot) == 0 {
		return
	}
	d.a = Args{NS: c.NS}
	for _, h := range hot {
		d.a.Cuts = append(d.a.Cuts, Cut{Min: d.doc(c, h.lo), Max: d.doc(c, h.hi), At: d.doc(c, h.at), Half: h.half, To: h.to})
	}
}

// splitAndMove makes the steps that are left: all splits first, while the table's
// versions of the chunks still hold, then the moves, hottest first.
func (d *draftBuilder) splitAndMove(c *topology.Collection, hot []*hotChunk) {
	k := d.future(c)
	for _, h := range hot {
		d.splitAt(k, h.at)
	}
	rates := d.shardRates(hot)
	after := map[string]float64{}
	for shard, rate := range rates {
		after[shard] = rate
	}
	for _, h := range hot {
		lo, hi, rate := h.part()
		before := len(d.moves)
		for _, p := range slices.Clone(k.within(lo, hi)) {
			d.move(k, later(p.Min, lo), earlier(p.Max, hi), h.to)
		}
		if len(d.moves) > before {
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
	slices.SortStableFunc(d.writes, func(a, b WriteEffect) int { return changedFirst(a) - changedFirst(b) })
}

func changedFirst(w WriteEffect) int {
	if w.Before != w.After {
		return 0
	}
	return 1
}

// hotSummary is the plan in one sentence.
func (d *draftBuilder) hotSummary(c *topology.Collection, hot []*hotChunk, asked int) message.Message {
	switch {
	case len(hot) == 0:
		return message.New("split-hot.none",
			"Split hot chunks of {ns} where their writes divide ({chunks} named): not possible, see the checks.",
			message.Namespace("ns", c.NS), message.Count("chunks", asked))
	case len(hot) == 1:
		h := hot[0]
		pattern := "Split the chunk {min} → {max} of {ns} on {shard} at {at} and move the upper half to {to}."
		if h.half == HalfLower {
			pattern = "Split the chunk {min} → {max} of {ns} on {shard} at {at} and move the lower half to {to}."
		}
		return message.New(
			"split-hot."+h.half,
			pattern,
			message.Namespace("ns", c.NS),
			message.Key("min", c.Key.Display(h.lo)),
			message.Key(
				"max",
				c.Key.Display(h.hi),
			),
			message.Shard("shard", h.owner),
			message.Key("at", c.Key.Display(h.at)),
			message.Shard("to", h.to),
		)
	}
	var to []string
	for _, h := range hot {
		to = append(to, h.to)
	}
	slices.Sort(to)
	return message.New("split-hot.many",
		"Split {chunks} hot chunks of {ns} where their writes divide, and move one half of each to {shards}.",
		message.Namespace("ns", c.NS), message.Count("chunks", len(hot)), message.Text("shards", list(slices.Compact(to))))
}
