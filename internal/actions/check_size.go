package actions

import (
	"cmp"

	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// listedSizes is how many ranges of a plan are listed to be measured. It is more than
// are measured, so that the plan can say how many were not.
const listedSizes = 100

// The possible answers about sizes, the least important first. The plan shows the most
// important one of all its ranges.
const (
	sizeFits = iota
	sizeUnmeasured
	sizeUnknown
	sizeNear
	sizePerhaps
	sizeForced
	sizeBlocks
)

// sizeAnswer is what is known about the size of one range that moves.
type sizeAnswer struct {
	weight int
	check  Check
	share  float64 // of the limit, to find the largest
}

// checkSize checks that ranges are small enough to move. A donor refuses a range with
// more documents than it moves at once (code 153); then nothing has changed. Ranges are
// measured for the plan, or else estimated from the sizes of the shards.
func (d *draftBuilder) checkSize() (out findings) {
	var worst sizeAnswer
	ranges, measured := 0, 0
	for _, m := range d.moves {
		parts := d.rangesOfTransfer(m)
		ranges += m.chunks
		estimated := false
		for _, p := range parts {
			if len(out.needs.Sizes) < listedSizes {
				out.needs.Sizes = append(out.needs.Sizes, p)
			}
			var a sizeAnswer
			if r, ok := d.s.Measured.Ranges[p]; ok {
				measured++
				a = d.measuredSize(m, p, r)
			} else {
				if estimated {
					continue // all of them have the same estimate
				}
				estimated, a = true, d.estimatedSize(m)
			}
			if worst.check.ID == "" || a.weight > worst.weight || a.weight == worst.weight && a.share > worst.share {
				worst = a
			}
		}
	}
	switch {
	case worst.weight == sizeUnmeasured, worst.weight == sizeFits && measured > 0 && measured < ranges:
		worst = d.unmeasured(ranges-measured, ranges)
	case worst.weight == sizeFits && measured > 0 && ranges > 1:
		worst.check.Text = worst.check.Text.With(message.Count("chunks", ranges))
		worst.check.Text.Code = "size.measuredAll"
		worst.check.Text.Pattern = "All {chunks} ranges were measured and are small enough to move. The largest has {documents} " +
			"documents ({bytes}), and its shard moves up to {most} at once, twice what fits into {chunkSize} at " +
			"{mean} each."
	}
	out.check(worst.check)
	return out
}

// rangesOfTransfer returns the ranges that a transfer moves one by one.
func (d *draftBuilder) rangesOfTransfer(m transfer) []Span {
	if m.chunks == 1 {
		return []Span{{NS: m.k.c.NS, Min: m.lo, Max: m.hi}}
	}
	var out []Span
	for _, p := range m.k.within(m.lo, m.hi) {
		out = append(out, Span{NS: m.k.c.NS, Min: shardkey.Later(m.lo, p.Min), Max: shardkey.Earlier(m.hi, p.Max)})
	}
	return out
}

// measuredSize applies the donor's limit to a range that was measured.
func (d *draftBuilder) measuredSize(m transfer, p Span, r topology.RangeSize) sizeAnswer {
	c := m.k.c
	l := d.s.moveLimit(c, m.from, r)
	source := message.New("measured",
		"Measured with dataSize at {at}", message.Time("at", r.At))
	if !l.known {
		return sizeAnswer{weight: sizeUnknown, check: Check{ID: "size", Verdict: Warn, Text: sizeUnknownText(c.NS), Source: source}}
	}
	facts := []message.Fact{message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(p.Min)), message.Count("documents", r.Documents),
		message.Bytes("bytes", r.Bytes), message.Count("most", l.documents), message.Bytes("chunkSize", l.chunkBytes),
		message.Bytes("mean", l.mean), message.Words("remedy", d.remedy())}
	documents := message.Plural(r.Documents, "document", "documents")
	a := sizeAnswer{share: float64(r.Documents) / float64(max(l.documents, 1))}
	answer := func(weight int, v Verdict, code, pattern string) sizeAnswer {
		a.weight, a.check = weight, Check{ID: "size", Verdict: v, Text: message.New(code, pattern, facts...), Source: source}
		return a
	}
	tooMany := r.Documents > l.documents
	switch {
	case !tooMany && (r.Exact || !near(r.Documents, l.documents)):
		return answer(sizeFits, Pass, "size.measured",
			"It is small enough to move: {documents} "+documents+" ({bytes}), and the shard moves up to {most} at "+
				"once, twice what fits into {chunkSize} at {mean} each.")
	case tooMany && d.a.Force:
		return answer(sizeForced, Warn, "size.forcedMeasured",
			"The chunk of {ns} at {min} has {documents} documents ({bytes}), more than the {most} that its "+
				"shard moves at once. It is moved by force: writes to it wait during the move.")
	case !tooMany:
		return answer(sizeNear, Warn, "size.near",
			"The chunk of {ns} at {min} has about {documents} documents ({bytes}), close to the {most} that its "+
				"shard moves at once, and it could not be counted exactly. If it has more, the move is refused "+
				"and nothing changes.")
	case m.awaited && d.s.Release.MovesParts():
		return answer(sizeNear, Warn, "size.parts",
			"The chunk of {ns} at {min} has {documents} documents ({bytes}), more than the {most} that are "+
				"moved at once. The balancer of this release moves it in parts of about {chunkSize}, unless it has "+
				"one value of the shard key.")
	case d.mayCountOrphans(c, p, m.from):
		return answer(sizePerhaps, Warn, "size.copies",
			"The chunk of {ns} at {min} was measured at {documents} documents ({bytes}), and its shard moves no "+
				"more than {most} at once. The count may include orphaned documents on other shards. If it does not, "+
				"the move is refused and nothing changes.")
	}
	return answer(sizeBlocks, Block, "size.tooMany",
		"The chunk of {ns} at {min} has {documents} documents ({bytes}). Its shard moves no more than "+
			"{most} at once: twice what fits into {chunkSize} at {mean} each. Split it first; if it has one "+
			"value of the shard key: {remedy}.")
}

// mayCountOrphans reports whether a measurement may include orphaned documents on
// shards other than the owner. Since 6.0 shards report how many they have. On older
// releases, the ranges that were given away recently are known from the changelog.
func (d *draftBuilder) mayCountOrphans(c *topology.Collection, p Span, owner string) bool {
	all := true
	for shard := range d.s.Table.Sizes[c.NS].Shards {
		o := d.s.Table.SizeOn(c.NS, shard).Orphans
		switch {
		case shard == owner:
		case !o.Known:
			all = false
		case o.Value > 0:
			return true
		}
	}
	if all && len(d.s.Table.Sizes[c.NS].Shards) > 0 {
		return false
	}
	for _, g := range d.cleanups() {
		if g.NS != c.NS || g.Shard == owner {
			continue
		}
		if g.OverlapsKeys(c.Key, p.Min, p.Max) {
			return true
		}
	}
	return false
}

// estimatedSize is the answer for a transfer that was not measured. Its size is known
// only if the chunk is the only one on its shard; otherwise it is estimated.
func (d *draftBuilder) estimatedSize(m transfer) sizeAnswer {
	c, source := m.k.c, d.fromTable(topology.PartSizes)
	limit := d.chunkLimit(c)
	size := d.estimate(c, m.lo, m.hi, bytesOf)
	size.Value /= int64(m.chunks)
	facts := []message.Fact{message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(m.lo)), message.Bytes("bytes", size.Value),
		message.Bytes("limit", limit), message.Words("remedy", d.remedy())}
	answer := func(weight int, v Verdict, code, pattern string) sizeAnswer {
		return sizeAnswer{weight: weight, check: Check{ID: "size", Verdict: v, Text: message.New(code, pattern, facts...), Source: source}}
	}
	switch {
	case limit <= 0 || !size.Known:
		return sizeAnswer{weight: sizeUnknown, check: Check{ID: "size", Verdict: Warn, Text: sizeUnknownText(c.NS), Source: source}}
	case size.Value <= limit && d.s.Measured.Reason != "":
		return d.unmeasured(1, 1)
	case size.Value <= limit:
		return sizeAnswer{weight: sizeFits, check: Check{ID: "size", Verdict: Pass, Text: sizeFitsText(), Source: source}}
	case d.a.Force:
		return answer(sizeForced, Warn, "size.forced",
			"The chunk of {ns} at {min} may have {bytes}, more than {limit}. It is moved by force: writes to it "+
				"wait during the move.")
	case d.isOnlyChunk(m):
		return answer(sizeBlocks, Block, "size.tooBig",
			"The chunk of {ns} at {min} has {bytes}; chunks over {limit} are not moved. Split it first; "+
				"if it has one value of the shard key: {remedy}.")
	}
	return answer(sizePerhaps, Warn, "size.perhaps",
		"The chunk of {ns} at {min} may have {bytes}. A move of more than {limit} is refused, and then "+
			"nothing changes. Splitting it first helps; if it has one value of the shard key: {remedy}.")
}

// unmeasured says that ranges are small enough by an estimate only, and why they were
// not measured.
func (d *draftBuilder) unmeasured(n, of int) sizeAnswer {
	reason := cmp.Or(d.s.Measured.Reason, reasonNotLoaded)
	text := message.New("size.unmeasured",
		"By an estimate from the shards’ sizes everything is small enough to move, but {n} of {chunks} "+
			"ranges could not be measured: {reason}.",
		message.Count("n", n), message.Count("chunks", of), message.Coded("reason", reason, topology.ReasonText(reason)))
	return sizeAnswer{weight: sizeUnmeasured, check: Check{ID: "size", Verdict: Warn, Text: text, Source: d.fromTable(topology.PartSizes)}}
}

// isOnlyChunk reports whether the range is the only chunk of the collection on its
// shard, so that its size is known.
func (d *draftBuilder) isOnlyChunk(m transfer) bool {
	i, ch := m.k.c.Chunks.Find(m.lo)
	return i >= 0 && ch.Min.Compare(m.lo) == 0 && ch.Max.Compare(m.hi) == 0 && m.k.c.Chunks.CountByShard()[ch.Shard] == 1
}

// tooBigAt reports whether a range would be too big to move, with the facts for a
// sentence. It decides by the documents if the range was measured, else by the
// estimated bytes.
func (d *draftBuilder) tooBigAt(c *topology.Collection, shard string, lo, hi shardkey.Key) (facts []message.Fact, tooBig, known bool) {
	p := Span{NS: c.NS, Min: lo, Max: hi}
	d.needs.Sizes = append(d.needs.Sizes, p)
	limit, size := d.chunkLimit(c), d.estimate(c, lo, hi, bytesOf)
	facts = []message.Fact{message.Bytes("bytes", size.Value), message.Bytes("limit", limit), message.Words("remedy", d.remedy())}
	if r, ok := d.s.Measured.Ranges[p]; ok {
		if l := d.s.moveLimit(c, shard, r); l.known {
			return facts, r.Documents > l.documents, true
		}
	}
	return facts, size.Value > limit, limit > 0 && size.Known
}

func sizeUnknownText(ns topology.Namespace) message.Message {
	return message.New("size.unknown", "It is not known whether the chunk is small enough to move: the sizes of {ns} have not been read yet.",
		message.Namespace("ns", ns))
}

func sizeFitsText() message.Message {
	return message.New("size.fits", "The chunk is small enough to move, by an estimate from the shards’ sizes.")
}
