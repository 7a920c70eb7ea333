package causes

import (
	"fmt"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// SentenceOf is the chain in one line of plain text to paste into a ticket.
// The same table always gives the same sentence.
func SentenceOf(v answer.View, ns topology.Namespace, w placement.Why) string {
	parts := []string{ticketPlace(v, ns, w)}
	if len(w.Shards) == 1 && len(w.Shards[0].Hosts) > 0 {
		parts = append(parts, "hosts "+strings.Join(w.Shards[0].Hosts, ", "))
	}
	if w.Chunk != nil {
		if at := w.Chunk.SinceTime(); !at.IsZero() {
			parts = append(parts, "since "+FullTime(at))
		}
	}
	switch m := w.History.Moved; {
	case m != nil:
		parts = append(parts, fmt.Sprintf("moved there from %s at %s", m.From, FullTime(m.At)))
	case w.Chunk != nil && w.History.State == placement.HistoryBefore && !w.History.Held.IsZero():
		parts = append(parts, "last moved or cut before "+FullTime(w.History.Held))
	}
	switch w.Zone.State {
	case placement.ZoneKept:
		parts = append(parts, "in zone "+v.ZoneAndProject(w.Zone.Zone))
	case placement.ZoneWrong:
		parts = append(parts, "although its zone "+v.ZoneAndProject(w.Zone.Zone)+" is elsewhere")
	case placement.ZoneNone, placement.ZoneOutside:
		parts = append(parts, "in no zone")
	}
	return sanitize.Sentence(strings.Join(parts, ", ") + ".")
}

// ticketPlace is where it is, without history and zone.
func ticketPlace(v answer.View, ns topology.Namespace, w placement.Why) string {
	on := format.JoinWords(answer.Map(w.Shards, func(s placement.WhyShard) string { return s.Name }))
	of := format.Count(int64(w.Of))
	switch w.Basis {
	case placement.WhyAbsent:
		return fmt.Sprintf("%s: there is no such collection", ns)
	case placement.WhyPrimary:
		return fmt.Sprintf("%s: not sharded, so on %s, the primary shard of %s", ns, on, ns.Database())
	case placement.WhyTracked:
		return fmt.Sprintf("%s: not sharded, on %s", ns, on)
	case placement.WhyUnknown:
		return fmt.Sprintf("%s: its place is not known", ns)
	case placement.WhyByNothing:
		return fmt.Sprintf("%s: it can be in any chunk (%s), on %s, because %s is not known", ns, of, on, patternText(w))
	}
	values := hashedValues(w)
	if w.Chunk == nil {
		return fmt.Sprintf("%s: chunks that can hold %s: %s of %s, on %s", ns, values, format.Count(int64(w.Chunks)), of, on)
	}
	k := w.Chunk
	from, until := v.KeyProjects(v.Table.Collection(ns)).Of(k.Min, k.Max)
	bound := func(key shardkey.Key, of api.KeyProject) string {
		return answer.TextAndProject(k.Pattern.Display(key), of, v.Profile.Words)
	}
	chunk := fmt.Sprintf("chunk %s of %s (%s to %s, version %s)", format.Count(int64(k.Position+1)), of,
		bound(k.Min, from), bound(k.Max, until), k.Version)
	if values == "" {
		return fmt.Sprintf("%s: %s is on %s", ns, chunk, k.Shard)
	}
	return fmt.Sprintf("%s: %s belongs to %s on %s", ns, values, chunk, k.Shard)
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
	return format.JoinWords(parts)
}
