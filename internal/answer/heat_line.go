package answer

import (
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// HeatLine is what a collection takes, or one chunk of it: its position, negative for
// the collection. The sentence says of which time it is, because it may stand on a page
// that is not drawn again with every count. It is zero where nothing was counted lately.
func HeatLine(v View, h HeatSource, ns topology.Namespace, chunk int) message.Message {
	if h.Counts == nil {
		return message.Message{}
	}
	w := h.Counts.Window(ns, DefaultWindow)
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
	return message.New("rate", pattern, message.Words("rate", RateText(rate)), message.Share("share", rate.Share),
		message.Duration("span", DefaultWindow), message.Words("at", format.Clock(w.To)))
}

// HeatURL is the page of heat of a collection.
func HeatURL(ns topology.Namespace) string {
	return HeatQuery{NS: ns, Window: DefaultWindow, Span: defaultSpan, By: "key"}.Address()
}
