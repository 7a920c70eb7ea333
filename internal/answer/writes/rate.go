package writes

import (
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// HeatRateText is the rate of a line with its uncertainty.
func HeatRateText(l api.Heat) string {
	r := heat.Rate{PerSecond: l.WritesPerSecond, AtLeast: l.AtLeast}
	if l.PlusMinus != nil {
		r.PlusMinus = *l.PlusMinus
	}
	return RateText(r)
}

// RateText is a rate with its uncertainty.
func RateText(r heat.Rate) string {
	text := format.PerSecond(r.PerSecond)
	if r.AtLeast {
		return "≥\u202f" + text
	}
	if r.PlusMinus > 0 {
		return text + "\u202f±\u202f" + format.PerSecond(r.PlusMinus)
	}
	return text
}

// HeatLine is what a collection takes, or one chunk of it: its position, negative for
// the collection. The sentence says of which time it is, because it may stand on a page
// that is not drawn again with every count. It is zero where nothing was counted lately.
func HeatLine(v answer.View, h HeatSource, ns topology.Namespace, chunk int) message.Message {
	if h.Counts == nil {
		return message.Message{}
	}
	w := h.Counts.Window(ns, v.WritesWindow())
	if w.Seconds == 0 {
		return message.Message{}
	}
	rate := w.Total
	if chunk >= 0 {
		rate = heat.Rate{}
		for _, l := range w.Chunks(v.Table, v.Profile) {
			if l.Chunk == chunk {
				rate = l.Rate
			}
		}
	}
	pattern := "{rate} writes/s in the {span} before {at}."
	switch {
	case w.Method == heat.ChangedRows && rate.Rows == 0:
		return message.Message{} // only the hottest projects are counted, so this is no zero
	case w.Method == heat.ChangedRows:
		pattern = "{rate} changed rows/s in the {span} before {at}, of the hottest projects only."
	case chunk >= 0 && rate.Rows == 0:
		pattern = "No writes were counted here in the {span} before {at}."
	case chunk >= 0:
		pattern = "{rate} writes/s in the {span} before {at}, {share} of the collection's."
	}
	return message.New("rate", v.Profile.Words(pattern), message.Words("rate", RateText(rate)), message.Share("share", rate.Share),
		message.Duration("span", v.WritesWindow()), message.Words("at", format.Clock(w.To)))
}
