package answer

import (
	"fmt"
	"strconv"
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// sentenceOf is the chain in one line of plain text to paste into a ticket.
// The same table gives the same sentence, whenever it is asked.
func sentenceOf(ns topology.Namespace, w placement.Why) string {
	parts := []string{ticketPlace(ns, w)}
	if len(w.Shards) == 1 && len(w.Shards[0].Hosts) > 0 {
		parts = append(parts, "hosts "+strings.Join(w.Shards[0].Hosts, ", "))
	}
	if w.Chunk != nil {
		if at := w.Chunk.SinceTime(); !at.IsZero() {
			parts = append(parts, "since "+fullTime(at))
		}
	}
	switch m := w.History.Moved; {
	case m != nil:
		parts = append(parts, fmt.Sprintf("moved there from %s at %s", m.From, fullTime(m.At)))
	case w.Chunk != nil && w.History.State == placement.HistoryBefore && !w.History.Held.IsZero():
		parts = append(parts, "last moved or cut before "+fullTime(w.History.Held))
	}
	switch w.Zone.State {
	case placement.ZoneKept:
		parts = append(parts, "bound by zone "+w.Zone.Zone)
	case placement.ZoneWrong:
		parts = append(parts, "though zone "+w.Zone.Zone+" binds it elsewhere")
	case placement.ZoneNone, placement.ZoneOutside:
		parts = append(parts, "bound by no zone")
	}
	return sanitize.Sentence(strings.Join(parts, ", ") + ".")
}

func ticketPlace(ns topology.Namespace, w placement.Why) string {
	shards := make([]string, len(w.Shards))
	for i, s := range w.Shards {
		shards[i] = s.Name
	}
	args := []string{"ns", string(ns), "db", ns.Database(), "shards", JoinWords(shards), "shard", JoinWords(shards), "key", patternText(w),
		"n", format.Count(int64(w.Chunks)), "of", format.Count(int64(w.Of))}
	switch w.Basis {
	case placement.WhyAbsent:
		return words.T("ticket.absent", args...)
	case placement.WhyPrimary:
		return words.T("ticket.primary", args...)
	case placement.WhyTracked:
		return words.T("ticket.tracked", args...)
	case placement.WhyUnknown:
		return words.T("ticket.nothing", args...)
	case placement.WhyByNothing:
		return words.T("ticket.every", args...)
	}
	values := hashedValues(w)
	switch {
	case w.Chunk == nil:
		return words.T("ticket.prefix", append(args, "values", values)...)
	case values == "":
		return words.T("ticket.chunk", append([]string{"ns", string(ns)}, chunkArgs(w)...)...)
	}
	return words.T("ticket.key", append([]string{"ns", string(ns), "values", values}, chunkArgs(w)...)...)
}

// hashedValues names the known fields of the key, each with its hash.
func hashedValues(w placement.Why) string {
	var parts []string
	for _, f := range w.Fields {
		if !f.Known {
			continue
		}
		text := f.Name + " " + shardkey.DisplayValue(f.Value)
		if f.Hash != nil {
			text = fmt.Sprintf("%s (hash %s)", text, strconv.FormatInt(*f.Hash, 10))
		}
		parts = append(parts, text)
	}
	return JoinWords(parts)
}
