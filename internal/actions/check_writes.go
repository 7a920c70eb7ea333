package actions

import (
	"strconv"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// fromWrites says how the writes of a range are known, and until when.
func (d *draftBuilder) fromWrites(w topology.RangeWrites) message.Message {
	if w.Reason != "" || w.Method == "" {
		return message.New("notAsked",
			"The cluster was not asked, or did not answer")
	}
	pattern := "Rows changed last, read at {at}"
	switch w.Method {
	case topology.WritesCounted:
		pattern = "Writes counted until {at}"
	case topology.WritesNew:
		pattern = "Newest rows, read at {at}"
	}
	return message.New("writes."+w.Method, pattern, message.Time("at", w.To))
}

// checkDivides says what the split does with the writes.
func (d *draftBuilder) checkDivides(c *topology.Collection, h *hotChunk) {
	text := message.New("writes.divides",
		"{rows} rows were written to the chunk at {min} in {seconds} s. "+
			"A split at {key} leaves {share} of these writes below it and the others from it on.",
		message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(h.lo)), message.Count("rows", h.w.Rows),
		message.Count("seconds", seconds(h.w)), message.Key("key", c.Key.Display(h.at)))
	if h.w.PerSecond > 0 {
		text = text.With(message.Share("share", h.lower/h.w.PerSecond))
	}
	d.pass("writes", d.fromWrites(h.w), text)
	if h.w.Method == topology.WritesCounted && h.w.AtLeast {
		d.warn("writes", d.fromWrites(h.w), message.New("writes.busiest",
			"More shard-key values of {ns} were written than could be counted: the split of the chunk at {min} "+
				"divides the writes of the busiest values.",
			message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(h.lo))))
	}
	if h.w.Method == topology.WritesNew && !h.w.InShards {
		d.warn("writes", d.fromWrites(h.w), message.New("writes.onlyNew",
			"Only new rows of {ns} were read; rows that are changed in place were not seen.",
			message.Namespace("ns", c.NS)))
	}
}

// checkGiven says what a split does that was chosen before, or by who asked for it.
func (d *draftBuilder) checkGiven(c *topology.Collection, h *hotChunk) {
	facts := []message.Fact{message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(h.lo)), message.Key("key", c.Key.Display(h.at))}
	switch {
	case h.w.Reason != "":
		d.warn("writes", d.fromWrites(h.w), message.New("writes.unseen",
			"It is not known where the chunk of {ns} at {min} is written to ({reason}); it is split at the given key {key}.",
			append(facts, message.Coded("reason", h.w.Reason, topology.ReasonText(h.w.Reason)))...))
	case h.w.PerSecond == 0:
		d.warn("writes", d.fromWrites(h.w), message.New("writes.none",
			"No writes to the chunk of {ns} at {min} were seen in {seconds} s; it is split at the given key {key}.",
			append(facts, message.Count("seconds", seconds(h.w)))...))
	case h.lower == 0 || h.upper == 0:
		d.warn("writes", d.fromWrites(h.w), message.New("writes.oneSide",
			"All {rows} writes to the chunk of {ns} at {min} that were seen in {seconds} s are on one side of the given key {key}.",
			append(facts, message.Count("rows", h.w.Rows), message.Count("seconds", seconds(h.w)))...))
	default:
		d.checkDivides(c, h)
	}
}

// checkPlaced says what the move does to the writes of both shards.
func (d *draftBuilder) checkPlaced(c *topology.Collection, h *hotChunk, rates map[string]float64, known bool, gain float64) {
	facts := []message.Fact{
		message.Namespace("ns", c.NS),
		message.Key("min", c.Key.Display(h.lo)),
		message.Shard("shard", h.owner),
		message.Shard("to", h.to),
	}
	if !known {
		d.warn("even", d.fromWrites(h.w), message.New("even.given",
			"It is not known whether {shard} or {to} takes more writes; the half with less data moves.", facts...))
		return
	}
	_, _, rate := h.part()
	facts = append(facts, rateFact("before", rates[h.owner]), rateFact("after", rates[h.owner]-rate),
		rateFact("tobefore", rates[h.to]), rateFact("toafter", rates[h.to]+rate))
	const pattern = "{shard} takes about {before} writes/s now and {after} after the move; {to} takes {tobefore} now and {toafter} after it"
	if gain <= 0 {
		d.warn("even", d.fromWrites(h.w), message.New("even.worse", pattern+": the writes will not be more even.", facts...))
		return
	}
	d.pass("even", d.fromWrites(h.w), message.New("even.moves", pattern+".", facts...))
}

// rateFact is a rate to a tenth of a row per second.
func rateFact(name string, perSecond float64) message.Fact {
	return message.Text(name, strconv.FormatFloat(max(0, perSecond), 'f', 1, 64))
}

// seconds is the time in which a range's writes were seen.
func seconds(w topology.RangeWrites) int64 { return int64(w.To.Sub(w.From).Seconds() + 0.5) }

// projectName is the project that writes with a value of the shard key, by name
// where that is known.
func (d *draftBuilder) projectName(c *topology.Collection, k topology.KeyWrites) string {
	if d.s.Directory != nil {
		if p, ok := d.s.Directory.In(c.NS.Database(), k.Project); ok && p.Name != "" {
			return p.Name
		}
	}
	return k.Project.Hex()
}
