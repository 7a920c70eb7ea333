package actions

import (
	"strconv"

	"shardboard/internal/topology"
)

// fromWrites says how the writes of a range are known, and until when.
func (d *draftBuilder) fromWrites(w topology.RangeWrites) Say {
	if w.Reason != "" || w.Method == "" {
		return say("notAsked")
	}
	return say("writes."+w.Method, "at", moment(w.To))
}

// checkDivides says what the split does with the writes.
func (d *draftBuilder) checkDivides(c *topology.Collection, h *hotChunk) {
	args := []string{"ns", string(c.NS), "min", c.Key.Display(h.lo), "rows", number(h.w.Rows), "seconds", seconds(h.w), "key", c.Key.Display(h.at)}
	if h.w.PerSecond > 0 {
		args = append(args, "share", strconv.FormatFloat(h.lower/h.w.PerSecond, 'g', 4, 64))
	}
	d.check(Check{ID: "writes", Verdict: Pass, Text: say("writes.divides", args...), Source: d.fromWrites(h.w)})
	if h.w.Method == topology.WritesCounted && h.w.AtLeast {
		d.check(Check{ID: "writes", Verdict: Warn, Text: say("writes.busiest", "ns", string(c.NS), "min", c.Key.Display(h.lo)), Source: d.fromWrites(h.w)})
	}
	if h.w.Method == topology.WritesNew && !h.w.InShards {
		d.check(Check{ID: "writes", Verdict: Warn, Text: say("writes.onlyNew", "ns", string(c.NS)), Source: d.fromWrites(h.w)})
	}
}

// checkGiven says what a split does that was chosen before, or by who asked for it.
func (d *draftBuilder) checkGiven(c *topology.Collection, h *hotChunk) {
	args := []string{"ns", string(c.NS), "min", c.Key.Display(h.lo), "key", c.Key.Display(h.at)}
	switch {
	case h.w.Reason != "":
		d.check(Check{ID: "writes", Verdict: Warn, Text: say("writes.unseen", append(args, "reason", h.w.Reason)...), Source: d.fromWrites(h.w)})
	case h.w.PerSecond == 0:
		d.check(Check{ID: "writes", Verdict: Warn, Text: say("writes.none", append(args, "seconds", seconds(h.w))...), Source: d.fromWrites(h.w)})
	case h.lower == 0 || h.upper == 0:
		d.check(Check{ID: "writes", Verdict: Warn, Text: say("writes.oneSide", append(args, "rows", number(h.w.Rows), "seconds", seconds(h.w))...), Source: d.fromWrites(h.w)})
	default:
		d.checkDivides(c, h)
	}
}

// checkPlaced says what the move does to the writes of both shards.
func (d *draftBuilder) checkPlaced(c *topology.Collection, h *hotChunk, rates map[string]float64, known bool, gain float64) {
	args := []string{"ns", string(c.NS), "min", c.Key.Display(h.lo), "shard", h.owner, "to", h.to}
	if !known {
		d.check(Check{ID: "even", Verdict: Warn, Text: say("even.given", args...), Source: d.fromWrites(h.w)})
		return
	}
	_, _, rate := h.part()
	args = append(args, "before", rated(rates[h.owner]), "after", rated(rates[h.owner]-rate), "tobefore", rated(rates[h.to]), "toafter", rated(rates[h.to]+rate))
	check := Check{ID: "even", Verdict: Pass, Text: say("even.moves", args...), Source: d.fromWrites(h.w)}
	if gain <= 0 {
		check.Verdict, check.Text.Code = Warn, "even.worse"
	}
	d.check(check)
}

// rated is rows a second, to a tenth.
func rated(perSecond float64) string { return strconv.FormatFloat(max(0, perSecond), 'f', 1, 64) }

// seconds is the time in which a range's writes were seen.
func seconds(w topology.RangeWrites) string { return number(int64(w.To.Sub(w.From).Seconds() + 0.5)) }

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
