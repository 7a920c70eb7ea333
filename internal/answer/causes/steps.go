package causes

import (
	"strconv"
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// whySteps are the links of the chain from a value to its machines, each a sentence
// that stands alone.
func whySteps(ns topology.Namespace, w placement.Why, primaries map[string]string) []api.WhyStep {
	var out []api.WhyStep
	step := func(name, pattern string, facts ...message.Fact) {
		m := message.New("why-"+name, pattern, facts...)
		out = append(out, api.WhyStep{Step: name, Text: api.Timeless(m)})
	}
	db := message.Text("db", ns.Database())
	switch w.Basis {
	case placement.WhyAbsent:
		step("rule", "There is no such collection, so there is no data.")
		return out
	case placement.WhyUnknown:
		step("rule", "Not known: neither a shard key nor the primary shard of {db} is readable.", db)
		return out
	case placement.WhyPrimary:
		step("rule", "Not sharded, so all of it is on {shard}, the primary shard of {db}.", message.Shard("shard", w.Primary), db)
	case placement.WhyTracked:
		step("rule", "Not sharded; moveCollection gave it a shard of its own.")
	default:
		step("key", "{key}", message.Text("key", keyText(w)))
		for _, f := range w.Fields {
			if f.Hash != nil {
				step("hash", "{field} is hashed: {hash}.", message.Text("field", f.Name), message.Words("hash", strconv.FormatInt(*f.Hash, 10)))
			}
		}
		if w.Chunk == nil {
			step("chunk", "Chunks that can hold it: {n} of {of}.", message.Count("n", w.Chunks), message.Count("of", w.Of))
		} else {
			step("chunk", "{n} of {of}, from {min} (inclusive) to {max} (exclusive), version {version}.",
				append(chunkFacts(w), message.Namespace("ns", ns))...)
		}
	}
	for _, s := range w.Shards {
		pattern, facts := shardStep(s, primaries)
		step("shard", pattern, facts...)
	}
	if w.Chunk != nil {
		if at := w.Chunk.SinceTime(); at.IsZero() {
			step("since", "Not known: the server has no time of arrival for this chunk.")
		} else {
			step("since", "{at}, according to the chunk's own history.", message.Time("at", at))
		}
	}
	if w.Chunk != nil || w.Basis == placement.WhyPrimary {
		pattern, facts := historyStep(w.History)
		step("history", pattern, facts...)
	}
	if w.Zone.State != placement.ZoneNotAsked {
		pattern, facts := zoneStep(w)
		step("zone", pattern, append(facts, message.Namespace("ns", ns))...)
	}
	return out
}

// patternText is the shard key as mongosh writes it.
func patternText(w placement.Why) string {
	var key shardkey.Pattern
	for _, f := range w.Fields {
		key = key.With(shardkey.Field{Name: f.Name, Hashed: f.Hashed})
	}
	return key.String()
}

func keyText(w placement.Why) string {
	known := false
	parts := make([]string, len(w.Fields))
	for i, f := range w.Fields {
		parts[i] = f.Name + " is not known"
		if f.Known {
			known = true
			parts[i] = f.Name + " is " + shardkey.DisplayValue(f.Value)
		}
	}
	switch {
	case w.Basis == placement.WhyByNothing:
		return patternText(w) + ": none of it is known, so any chunk can hold a row."
	case !known:
		return patternText(w) + "."
	}
	return patternText(w) + ": " + format.JoinWords(parts) + "."
}

func chunkFacts(w placement.Why) []message.Fact {
	k := w.Chunk
	return []message.Fact{message.Count("n", k.Position+1), message.Count("of", w.Of), message.Key("min", k.Pattern.Display(k.Min)),
		message.Key("max", k.Pattern.Display(k.Max)), message.Words("version", k.Version.String()), message.Shard("shard", k.Shard)}
}

func shardStep(s placement.WhyShard, primaries map[string]string) (string, []message.Fact) {
	shard := message.Shard("shard", s.Name)
	if !s.Known {
		return "{shard}, which is not in the list of shards.", []message.Fact{shard}
	}
	pattern := "{shard}, replica set {set}: {hosts}"
	facts := []message.Fact{shard, message.Text("set", s.ReplSet), message.Text("hosts", strings.Join(s.Hosts, ", "))}
	if host, ok := primaries[s.Name]; ok {
		pattern, facts = pattern+"; its primary is {primary}", append(facts, message.Text("primary", host))
	}
	return pattern + ".", facts
}

func historyStep(h placement.History) (string, []message.Fact) {
	var parts []string
	var facts []message.Fact
	if m := h.Moved; m != nil {
		parts = append(parts, "Moved from {from} to {to} at {moved}.")
		facts = append(facts, message.Shard("from", m.From), message.Shard("to", m.To), message.Time("moved", m.At))
	}
	if c := h.Cut; c != nil {
		text := "Created by a split at {cut}."
		switch c.What {
		case "merge", "autoMerge":
			text = "Created by a merge at {cut}."
		case "shardCollection.end":
			text = "Created when the collection was sharded, at {cut}."
		}
		parts, facts = append(parts, text), append(facts, message.Time("cut", c.At))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, " "), facts
	case h.State == placement.HistoryUnread:
		return "Not known: the changelog is not readable.", nil
	case h.Held.IsZero():
		return "Nothing is known: no changelog entries are available.", nil
	}
	return "Before {held}, the oldest changelog entry available.", []message.Fact{message.Time("held", h.Held)}
}

func zoneStep(w placement.Why) (string, []message.Fact) {
	z := w.Zone
	facts := []message.Fact{message.Zone("zone", z.Zone), message.Text("shards", format.JoinWords(z.Shards))}
	if w.Chunk != nil {
		facts = append(facts, message.Key("min", w.Chunk.Pattern.Display(z.Min)), message.Key("max", w.Chunk.Pattern.Display(z.Max)))
	}
	switch z.State {
	case placement.ZoneNone:
		return "The collection has no zone ranges: any shard may hold the chunk.", nil
	case placement.ZoneOutside:
		return "None: the collection's zone ranges do not cover this chunk.", nil
	case placement.ZoneKept:
		return "{zone}, from {min} to {max}, on {shards}.", facts
	case placement.ZoneWrong:
		if len(z.Shards) == 0 {
			return "{zone}, from {min} to {max}, on no shard.", facts
		}
		return "{zone}, from {min} to {max}, which is on {shards}, not on this shard.", facts
	case placement.ZoneStraddles:
		return "A zone boundary is inside the chunk, so it is in no zone until the balancer splits it there.", nil
	}
	return "Not known: the zones are not readable.", nil
}

// FullTime is a time in texts that are kept: to the second, in UTC.
func FullTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }
