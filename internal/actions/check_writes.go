package actions

import (
	"strconv"

	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// fromWrites is the source of an answer that comes from the writes of a range.
func (d *findings) fromWrites(w topology.RangeWrites) message.Message {
	if w.Reason != "" || w.Method == "" {
		return message.New("notAsked",
			"The cluster was not asked, or did not answer")
	}
	pattern := "Last changed rows, read at {at}"
	switch w.Method {
	case topology.WritesCounted:
		pattern = "Writes counted until {at}"
	case topology.WritesNew:
		pattern = "Newest rows, read at {at}"
	}
	return message.New("writes."+w.Method, pattern, message.Time("at", w.To))
}

// checkSplitDividesWrites says how the split divides the writes.
func (d *draftBuilder) checkSplitDividesWrites(c *topology.Collection, h *hotChunk) (out findings) {
	text := message.New("writes.divides",
		message.Plural(h.writes.Rows, "One row was", "{rows} rows were")+" written to the chunk at {min} in {seconds}. "+
			"A split at {key} leaves {share} of these writes in the lower half.",
		message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(h.lo)), message.Count("rows", h.writes.Rows),
		during(h.writes), message.Key("key", c.Key.Display(h.at)))
	if h.writes.PerSecond > 0 {
		text = text.With(message.Share("share", h.lower/h.writes.PerSecond))
	}
	out.pass("writes", d.fromWrites(h.writes), text)
	if h.writes.Method == topology.WritesCounted && h.writes.AtLeast {
		out.warn("writes", d.fromWrites(h.writes), message.New("writes.busiest",
			"More shard-key values of {ns} were written than could be counted: the split of the chunk at {min} "+
				"divides the writes of the busiest values.",
			message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(h.lo))))
	}
	if h.writes.Method == topology.WritesNew && !h.writes.InShards {
		out.warn("writes", d.fromWrites(h.writes), message.New("writes.onlyNew",
			"Only new rows of {ns} were read; rows that are changed in place were not seen.",
			message.Namespace("ns", c.NS)))
	}
	return out
}

// checkGivenSplit says how a split at a given key divides the writes.
func (d *draftBuilder) checkGivenSplit(c *topology.Collection, h *hotChunk) (out findings) {
	facts := []message.Fact{message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(h.lo)), message.Key("key", c.Key.Display(h.at))}
	switch {
	case h.writes.Reason != "":
		out.warn("writes", d.fromWrites(h.writes), message.New("writes.unseen",
			"It is not known where the chunk of {ns} at {min} is written ({reason}); it is split at the given key {key}.",
			append(facts, message.Coded("reason", h.writes.Reason, topology.ReasonText(h.writes.Reason)))...))
	case h.writes.PerSecond == 0:
		out.warn("writes", d.fromWrites(h.writes), message.New("writes.none",
			"No writes to the chunk of {ns} at {min} were seen in {seconds}; it is split at the given key {key}.",
			append(facts, during(h.writes))...))
	case h.lower == 0 || h.upper == 0:
		out.warn("writes", d.fromWrites(h.writes), message.New("writes.oneSide",
			message.Plural(h.writes.Rows,
				"The one write to the chunk of {ns} at {min} that was seen in {seconds} is on one side of the given key {key}.",
				"All {rows} writes to the chunk of {ns} at {min} that were seen in {seconds} are on one side of the given key {key}."),
			append(facts, message.Count("rows", h.writes.Rows), during(h.writes))...))
	default:
		out.add(d.checkSplitDividesWrites(c, h))
	}
	return out
}

// checkWritesAfterMove says what the move does to the writes of both shards.
func (d *draftBuilder) checkWritesAfterMove(c *topology.Collection, h *hotChunk, rates map[string]float64, known bool,
	gain float64) (out findings) {
	facts := []message.Fact{
		message.Namespace("ns", c.NS),
		message.Key("min", c.Key.Display(h.lo)),
		message.Shard("shard", h.owner),
		message.Shard("to", h.to),
	}
	if !known {
		out.warn("even", d.fromWrites(h.writes), message.New("even.given",
			"It is not known whether {shard} or {to} takes more writes; the half with less data moves.", facts...))
		return out
	}
	_, _, rate := h.movingHalf()
	facts = append(facts, rateFact("before", rates[h.owner]), rateFact("after", rates[h.owner]-rate),
		rateFact("tobefore", rates[h.to]), rateFact("toafter", rates[h.to]+rate))
	const pattern = "{shard} takes about {before} writes/s now and {after} after the move; {to} takes {tobefore} now and {toafter} after it"
	if gain <= 0 {
		out.warn("even", d.fromWrites(h.writes), message.New("even.worse", pattern+": the writes will not be more even.", facts...))
		return out
	}
	out.pass("even", d.fromWrites(h.writes), message.New("even.moves", pattern+".", facts...))
	return out
}

// rateFact is a rate, rounded to a tenth of a row a second.
func rateFact(name string, perSecond float64) message.Fact {
	return message.Text(name, strconv.FormatFloat(max(0, perSecond), 'f', 1, 64))
}

// seconds returns the time in which a range's writes were seen.
// during is how long writes were seen, in seconds for scripts.
func during(w topology.RangeWrites) message.Fact {
	f := message.Count("seconds", seconds(w))
	f.Shown = format.Span(w.To.Sub(w.From))
	return f
}

func seconds(w topology.RangeWrites) int64 { return int64(w.To.Sub(w.From).Seconds() + 0.5) }

// projectName returns the name of the project that a shard-key value belongs to, or its
// id when the name is not known.
func (d *draftBuilder) projectName(c *topology.Collection, k topology.KeyWrites) string {
	if d.s.Directory != nil {
		if p, ok := d.s.Directory.In(c.NS.Database(), k.Project); ok && p.Name != "" {
			return p.Name
		}
	}
	return k.Project.Hex()
}
