package actions

import (
	"cmp"
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const (
	// alone is the part of a chunk's writes from which on one value of the shard key
	// is what makes it hot: a split leaves nearly all of them in one half.
	alone = 0.8
	// fewest is how many rows have to be seen for a median.
	fewest = 20
	// worthwhile is by which part of its shard's writes a half on another shard has to
	// leave both nearer to each other: less is within what is measured wrong.
	worthwhile = 0.01
)

// choose finds for each chunk where it is split, which half moves and where to. The
// hottest chunk is placed first, each where it makes the shards' writes most even
// with what was placed before. Chunks that cannot be divided are left out, and
// block the plan when none is left.
func (d *draftBuilder) choose(c *topology.Collection, hot []*hotChunk) []*hotChunk {
	var refused []Check
	var out []*hotChunk
	for _, h := range hot {
		if no, ok := d.divide(c, h); !ok {
			refused = append(refused, no)
			continue
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b *hotChunk) int {
		return cmp.Or(cmp.Compare(b.w.PerSecond, a.w.PerSecond), a.lo.Compare(b.lo))
	})
	rates := d.shardRates(hot)
	out = slices.DeleteFunc(out, func(h *hotChunk) bool {
		no, ok := d.place(c, h, rates)
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

// divide finds where a chunk is split; else the check that says why nowhere.
func (d *draftBuilder) divide(c *topology.Collection, h *hotChunk) (Check, bool) {
	no := func(id, code, pattern string, facts ...message.Fact) (Check, bool) {
		facts = append(facts, message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(h.lo)))
		return Check{ID: id, Verdict: Block, Text: message.New(code, pattern, facts...), Source: d.fromWrites(h.w)}, false
	}
	w := h.w
	if h.given {
		h.measure()
		d.checkGiven(c, h)
		return Check{}, true
	}
	top, all := hottest(w)
	switch {
	case d.singleValue(c, shardkey.Range{Min: h.lo, Max: h.hi}):
		return no("unsplittable", "unsplittable.oneValue",
			"All rows of this chunk have one value of {key}, and a chunk cannot be split inside a value: {remedy}.",
			message.Text("key", c.Key.String()), message.Words("remedy", d.remedy()))
	case w.Reason != "":
		return no("writes", "writes.unknown", "It is not known where the chunk of {ns} at {min} is written to: {reason}. "+
			"To split it anyway, in the middle of its documents or at a key, plan “split”.",
			message.Coded("reason", w.Reason, topology.ReasonText(w.Reason)))
	case w.Rows < fewest:
		return no("writes", "writes.few", "Only {rows} writes to the chunk of {ns} at {min} were seen in {seconds} s; "+
			"{least} are needed to find a median. Wait, or plan “split” to split it in the middle of its documents.",
			message.Count("rows", w.Rows), message.Count("seconds", seconds(w)), message.Count("least", fewest))
	case w.Growing:
		return no("writes", "writes.growing", "The newest of the {rows} rows read have the greatest keys of the chunk of {ns} at {min}: "+
			"new writes will all go to its upper end, and no split of {key} divides them. What helps: {remedy}.",
			message.Text("key", c.Key.String()), message.Count("rows", w.Rows), message.Words("remedy", d.remedy()))
	case float64(top.Rows) >= alone*float64(all):
		code, who := "writes.oneValue", ""
		switch {
		case !top.Document.IsZero() && !top.Project.IsZero():
			code, who = "writes.oneDocument", " (document {document}, project {project})"
		case !top.Project.IsZero():
			code, who = "writes.oneProject", " (project {project})"
		}
		return no(
			"writes",
			code,
			"One shard-key value of {ns}, {value}"+who+", takes {share} of the {rows} writes that were seen in {seconds} s; "+
				"no split divides it. Move the whole chunk at {min} to a shard with fewer writes, or make the key finer: {remedy}.",
			message.Share(
				"share",
				float64(top.Rows)/float64(all),
			),
			message.Key("value", c.Key.Display(top.Key)),
			message.Text("key", c.Key.String()),
			message.Count(
				"rows",
				w.Rows,
			),
			message.Count("seconds", seconds(w)),
			message.Project("project", top.Project.Hex(), d.projectName(c, top)),
			message.Key("document", top.Document.Hex()),
			message.Words("remedy", d.remedy()),
		)
	}
	h.at = d.median(c, w, all)
	if h.at.IsZero() {
		return no("writes", "writes.noKey", "The chunk of {ns} at {min} cannot be split at any of the shard-key values that were written: "+
			"they do not have the types that the profile gives for {key}.", message.Text("key", c.Key.String()))
	}
	h.measure()
	d.checkDivides(c, h)
	return Check{}, true
}

// hottest is the value of the shard key that takes most of a range's writes.
func hottest(w topology.RangeWrites) (top topology.KeyWrites, all int64) {
	for _, k := range w.Keys {
		if all += k.Rows; k.Rows > top.Rows {
			top = k
		}
	}
	return top, all
}

// median is the value that rows were written with which leaves nearest to half of
// the writes below it. Some are below it always: it is none of the lowest value.
func (d *draftBuilder) median(c *topology.Collection, w topology.RangeWrites, all int64) (at key) {
	below, best := int64(0), int64(-1)
	for i, k := range w.Keys {
		if off := max(2*below-all, all-2*below); i > 0 && (best < 0 || off < best) && d.s.typed(c, "at", k.Key, c.Key.Len()) == nil {
			at, best = k.Key, off
		}
		below += k.Rows
	}
	return at
}

// shardRates is what each shard takes, with chunks whose collection is not counted
// in that; nil when it is not known.
func (d *draftBuilder) shardRates(hot []*hotChunk) map[string]float64 {
	if d.s.Writes.Shards == nil {
		return nil
	}
	out := map[string]float64{}
	for shard, rate := range d.s.Writes.Shards {
		out[shard] = rate
	}
	for _, h := range hot {
		if h.w.Reason == "" && !h.w.InShards {
			out[h.owner] += h.w.PerSecond
		}
	}
	return out
}

// place chooses the half that moves and where to, and notes it in rates; else the
// check that says why nowhere.
func (d *draftBuilder) place(c *topology.Collection, h *hotChunk, rates map[string]float64) (Check, bool) {
	facts := []message.Fact{message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(h.lo)), message.Shard("shard", h.owner)}
	no := func(code, pattern string) (Check, bool) {
		return Check{ID: "even", Verdict: Block, Text: message.New(code, pattern, facts...), Source: d.fromWrites(h.w)}, false
	}
	known := rates != nil && h.w.Reason == ""
	switch {
	case d.a.To == h.owner:
		return Check{ID: "recipient", Verdict: Block, Text: message.New("recipient.same",
			"The chunk is already on {shard}.", message.Shard("shard", h.owner)), Source: d.fromTable(topology.PartRouting)}, false
	case d.a.To == "" && !known:
		return no("even.unknown", "It is not known which shard takes the fewest writes, "+
			"so none can be chosen for half of the chunk of {ns} at {min}. Name one as “to”.")
	}
	var best, late placing
	found, waiting := false, false
	for _, half := range []string{HalfUpper, HalfLower} {
		h.half = half
		lo, hi, rate := h.part()
		size := d.estimate(c, lo, hi, bytesOf)
		for _, s := range d.s.Table.Shards {
			if s.Name == h.owner || d.a.To != "" && s.Name != d.a.To || d.a.To == "" && !d.mayTake(c, lo, hi, s, size) {
				continue
			}
			p := placing{half: half, to: s.Name, rate: rate, bytes: size.Value}
			if known {
				p.gain = rate * (rates[h.owner] - rates[s.Name] - rate)
			}
			if d.a.To == "" && d.cleansUp(c, lo, hi, s.Name) {
				if !waiting || p.better(late) {
					late, waiting = p, true
				}
				continue
			}
			if !found || p.better(best) {
				best, found = p, true
			}
		}
	}
	evens := func(p placing) bool { return p.gain > worthwhile*p.rate*rates[h.owner] }
	switch {
	case d.a.To != "" || found && evens(best):
	case waiting && evens(late):
		facts = append(facts, message.Shard("to", late.to))
		return no("even.waits", "Moving half of the chunk of {ns} at {min} to {to} would make the writes most even, but {to} may still have "+
			"to delete documents of it that were moved away; until then a move there fails after 10 s. "+
			"Wait a quarter of an hour, or name a shard as “to”.")
	case found:
		return no("even.already", "Moving half of the chunk of {ns} at {min} away from {shard} to any shard that can take it "+
			"would not make the writes more even.")
	default:
		return no("even.nowhere", "No other shard can take a half of the chunk of {ns} at {min}: "+
			"each is outside its zone, is draining, is full, or has documents with the same ids.")
	}
	h.half, h.to = best.half, best.to
	d.checkPlaced(c, h, rates, known, best.gain)
	if known {
		rates[h.owner] -= best.rate
		rates[h.to] += best.rate
	}
	return Check{}, true
}

// placing is one half on one shard.
type placing struct {
	half, to string
	rate     float64
	gain     float64 // by how much the shards' writes get more even: half of what the sum of their squares falls by
	bytes    int64   // to move
}

// better orders choices: what makes the writes more even, then what has less to move.
func (p placing) better(o placing) bool {
	if p.gain != o.gain {
		return p.gain > o.gain
	}
	return p.bytes < o.bytes
}

// mayTake tells whether a shard could have a range: what the checks would block is
// not chosen.
func (d *draftBuilder) mayTake(c *topology.Collection, lo, hi key, s topology.Shard, size topology.Figure) bool {
	if s.Draining {
		return false
	}
	for _, z := range meeting(d.ranges(c.NS), lo, hi) {
		if !d.carries(s.Name, z.Zone) {
			return false
		}
	}
	from, to := c.Chunks.Overlap(shardkey.Range{Min: lo, Max: hi})
	for i := from; i < to && len(d.s.Shared) > 0; i++ {
		for _, danger := range placement.Dangers(c, i, d.s.Shared) {
			if danger.Shard == s.Name {
				return false
			}
		}
	}
	disk := d.s.Table.DiskOf(s.Name)
	if !disk.Known() || !size.Known {
		return true
	}
	return size.Value <= disk.Total.Value-disk.Used.Value-min(diskKept, disk.Total.Value/20)
}

// cleansUp tells whether a shard may still have to delete what it gave away of a
// range: a move there would wait for that and fail.
func (d *draftBuilder) cleansUp(c *topology.Collection, lo, hi key, shard string) bool {
	return slices.ContainsFunc(d.cleanups(), func(u Cleanup) bool {
		if u.NS != c.NS || u.Shard != shard {
			return false
		}
		from, errFrom := c.Key.Bound(u.Min)
		to, errTo := c.Key.Bound(u.Max)
		return errFrom != nil || errTo != nil || from.Compare(hi) < 0 && to.Compare(lo) > 0
	})
}
