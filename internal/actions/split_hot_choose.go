package actions

import (
	"cmp"
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const (
	// dominantShare: when one value of the shard key takes at least this share of a chunk's
	// writes, a split does not help, because nearly all writes stay in one half.
	dominantShare = 0.8
	// minRows is how many written rows are needed for a median.
	minRows = 20
	// minImprovement is the least improvement, as a share of the shard's writes, that a
	// move must bring. Less is within the error of measurement.
	minImprovement = 0.01
)

// chooseSplits chooses for each chunk where it is split, which half moves, and to which
// shard. It starts with the hottest chunk. Each half goes where it makes the writes of
// the shards most even, given the choices before it. Chunks that cannot be divided are
// left out, and block the plan if none is left.
func (d *draftBuilder) chooseSplits(c *topology.Collection, hot []*hotChunk) []*hotChunk {
	var refused []Check
	var out []*hotChunk
	for _, h := range hot {
		if no, ok := d.chooseSplitKey(c, h); !ok {
			refused = append(refused, no)
			continue
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b *hotChunk) int {
		return cmp.Or(cmp.Compare(b.writes.PerSecond, a.writes.PerSecond), a.lo.Compare(b.lo))
	})
	rates := d.shardRates(hot)
	out = slices.DeleteFunc(out, func(h *hotChunk) bool {
		no, ok := d.chooseShard(c, h, rates)
		if !ok {
			refused = append(refused, no)
		}
		return !ok
	})
	for _, no := range refused {
		if len(out) > 0 {
			no.Verdict = Warn
		}
		d.check(no)
	}
	if len(out) > 0 && len(refused) > 0 {
		text := message.New("left-out.one", "One of the named chunks is left out: see the check that gives the reason.",
			message.Count("chunks", len(refused)))
		if len(refused) > 1 {
			text.Code = "left-out.many"
			text.Pattern = "{chunks} of the named chunks are left out: see the checks that give the reasons."
		}
		d.warn("left-out", d.fromTable(topology.PartRouting), text)
	}
	return out
}

// chooseSplitKey chooses where a chunk is split. If it cannot be split it returns the
// check that gives the reason.
func (d *draftBuilder) chooseSplitKey(c *topology.Collection, h *hotChunk) (Check, bool) {
	no := func(id, code, pattern string, facts ...message.Fact) (Check, bool) {
		facts = append(facts, message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(h.lo)))
		return Check{ID: id, Verdict: Block, Text: message.New(code, pattern, facts...), Source: d.fromWrites(h.writes)}, false
	}
	w := h.writes
	if h.given {
		h.divideWrites()
		d.add(d.checkGivenSplit(c, h))
		return Check{}, true
	}
	top, all := hottest(w)
	switch {
	case d.singleValue(c, shardkey.Range{Min: h.lo, Max: h.hi}):
		text := d.oneValueText(c)
		return no("unsplittable", text.Code, text.Pattern, text.Facts...)
	case w.Reason != "":
		return no("writes", "writes.unknown", "It is not known where the chunk of {ns} at {min} is written: {reason}. "+
			"To split it anyway, in the middle of its documents or at a key, use “split”.",
			message.Coded("reason", w.Reason, topology.ReasonText(w.Reason)))
	case w.Rows < minRows:
		return no("writes", "writes.few", "Too few writes to the chunk of {ns} at {min} were seen: {rows} in {seconds}; "+
			"{least} are needed to find a median. Wait, or use “split” to split it in the middle of its documents.",
			message.Count("rows", w.Rows), during(w), message.Count("least", minRows))
	case w.Growing:
		return no("writes", "writes.growing", "The newest of the {rows} rows read have the greatest keys of the chunk of {ns} at {min}: "+
			"new writes will all go to its upper end, and no split by {key} divides them. What helps: {remedy}.",
			message.Text("key", c.Key.String()), message.Count("rows", w.Rows), message.Words("remedy", d.remedy()))
	case float64(top.Rows) >= dominantShare*float64(all):
		code, who := "writes.oneValue", ""
		switch {
		case !top.Document.IsZero() && !top.Project.IsZero():
			code, who = "writes.oneDocument", " (document {document}, project {project})"
		case !top.Project.IsZero():
			code, who = "writes.oneProject", " (project {project})"
		}
		return no("writes", code, "One shard-key value of {ns}, {value}"+who+", takes {share} of the {rows} writes seen in {seconds}; "+
			"no split divides them. Move the whole chunk at {min} to a shard with fewer writes, or divide the value: {remedy}.",
			message.Share("share", float64(top.Rows)/float64(all)), message.Key("value", c.Key.Display(top.Key)),
			message.Text("key", c.Key.String()), message.Count("rows", w.Rows), during(w),
			message.Project("project", top.Project.Hex(), d.projectName(c, top)), message.Key("document", top.DocumentText),
			message.Words("remedy", d.remedy()))
	}
	h.at = d.median(c, w, all)
	if h.at.IsZero() {
		return no("writes", "writes.noKey", "The chunk of {ns} at {min} cannot be split at any of the written shard-key values, "+
			"because their types are not those of the profile for {key}.", message.Text("key", c.Key.String()))
	}
	h.divideWrites()
	d.add(d.checkSplitDividesWrites(c, h))
	return Check{}, true
}

// hottest returns the shard-key value with the most writes, and the number of all writes.
func hottest(w topology.RangeWrites) (top topology.KeyWrites, all int64) {
	for _, k := range w.Keys {
		if all += k.Rows; k.Rows > top.Rows {
			top = k
		}
	}
	return top, all
}

// median returns the written value that divides the writes most evenly. It is never the
// lowest one, so that both halves have writes.
func (d *draftBuilder) median(c *topology.Collection, w topology.RangeWrites, all int64) (at key) {
	below, best := int64(0), int64(-1)
	for i, k := range w.Keys {
		if off := max(2*below-all, all-2*below); i > 0 && (best < 0 || off < best) && d.s.checkIDTypes(c, "at", k.Key, c.Key.Len()) == nil {
			at, best = k.Key, off
		}
		below += k.Rows
	}
	return at
}
