package web

import (
	"strconv"
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// whyOf puts a chain into the API's form, sentences included. Nothing in it
// depends on the time of asking: the same table gives the same text. primaries
// are primary members by shard; nil when nobody asked.
func whyOf(t *topology.Table, ns topology.Namespace, w placement.Why, primaries map[string]string) api.Why {
	out := api.Why{Basis: string(w.Basis), Fields: []api.WhyField{}, Shards: []api.WhyShard{}, Primary: w.Primary}
	for _, f := range w.Fields {
		field := api.WhyField{Name: f.Name, Hashed: f.Hashed, Hash: decimal(f.Hash)}
		if f.Known {
			field.Value = valueJSON(f)
		}
		out.Fields = append(out.Fields, field)
	}
	for _, s := range w.Shards {
		shard := api.WhyShard{Shard: s.Name, ReplSet: s.ReplSet, Hosts: notNil(s.Hosts), Draining: s.Draining}
		if host, ok := primaries[s.Name]; ok {
			shard.Primary = &host
		}
		out.Shards = append(out.Shards, shard)
	}
	if w.Chunk != nil {
		c := whyChunkOf(t.Collection(ns), w)
		out.Chunk = &c
	}
	out.History = api.WhyHistory{State: string(w.History.State), Moved: causeOf(w.History.Moved), Cut: causeOf(w.History.Cut), Held: api.Time(w.History.Held)}
	if w.Zone.State != placement.ZoneNotAsked {
		z := w.Zone
		out.Zone = &api.WhyZone{State: string(z.State), Zone: z.Zone, Shards: notNil(z.Shards)}
		if w.Chunk != nil {
			out.Zone.Min, out.Zone.Max = keyOf(w.Chunk.Pattern, z.Min), keyOf(w.Chunk.Pattern, z.Max)
		}
	}
	out.Steps = whySteps(ns, w, primaries)
	return out
}

func whyChunkOf(c *topology.Collection, w placement.Why) api.WhyChunk {
	k := w.Chunk
	out := api.WhyChunk{
		Number: k.Position + 1, Of: w.Of, Min: keyOf(k.Pattern, k.Min), Max: keyOf(k.Pattern, k.Max), Shard: k.Shard,
		Version: api.Version{Major: k.Version.Major, Minor: k.Version.Minor}, Since: api.Instant(k.Since), Jumbo: k.Jumbo,
	}
	if c != nil {
		out.Ref = chunkRef(c, k.Min)
	}
	return out
}

func causeOf(c *placement.Cause) *api.WhyCause {
	if c == nil {
		return nil
	}
	return &api.WhyCause{What: c.What, At: api.Time(c.At), From: c.From, To: c.To}
}

// valueJSON is a field's value as canonical Extended JSON.
func valueJSON(f placement.WhyField) api.Key {
	return api.Embedded(shardkey.ValueExtJSON(f.Value))
}

func decimal(n *int64) *string {
	if n == nil {
		return nil
	}
	s := strconv.FormatInt(*n, 10)
	return &s
}

// whySteps are the links of the chain, each a sentence that stands alone.
func whySteps(ns topology.Namespace, w placement.Why, primaries map[string]string) []api.WhyStep {
	var out []api.WhyStep
	step := func(name, text string) { out = append(out, api.WhyStep{Step: name, Text: text}) }
	db := ns.Database()
	switch w.Basis {
	case placement.WhyAbsent:
		step("rule", words.T("why.absent"))
		return out
	case placement.WhyUnknown:
		step("rule", words.T("why.nothing", "db", db))
		return out
	case placement.WhyPrimary:
		step("rule", words.T("why.primary", "shard", w.Primary, "db", db))
	case placement.WhyTracked:
		step("rule", words.T("why.tracked"))
	default:
		step("key", keyText(w))
		for _, f := range w.Fields {
			if f.Hash != nil {
				step("hash", words.T("why.hash", "field", f.Name, "hash", strconv.FormatInt(*f.Hash, 10)))
			}
		}
		step("chunk", chunkText(w))
	}
	for _, s := range w.Shards {
		step("shard", shardText(s, primaries))
	}
	if w.Chunk != nil {
		if at := w.Chunk.SinceTime(); at.IsZero() {
			step("since", words.T("why.since.unknown"))
		} else {
			step("since", words.T("why.since", "at", fullTime(at)))
		}
	}
	if w.Chunk != nil || w.Basis == placement.WhyPrimary {
		step("history", historyText(w.History))
	}
	if w.Zone.State != placement.ZoneNotAsked {
		step("zone", zoneText(w))
	}
	return out
}

// patternText is the shard key as mongosh writes it.
func patternText(w placement.Why) string {
	parts := make([]string, len(w.Fields))
	for i, f := range w.Fields {
		kind := "1"
		if f.Hashed {
			kind = `"hashed"`
		}
		parts[i] = f.Name + ": " + kind
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// valuesText lists the key's fields with their values, known ones only when
// short is asked for.
func valuesText(w placement.Why, short bool) string {
	var parts []string
	for _, f := range w.Fields {
		switch {
		case f.Known:
			parts = append(parts, words.T("why.value", "field", f.Name, "value", shardkey.DisplayValue(f.Value)))
		case !short:
			parts = append(parts, words.T("why.value.unknown", "field", f.Name))
		}
	}
	return joinWords(parts)
}

func keyText(w placement.Why) string {
	known := false
	for _, f := range w.Fields {
		known = known || f.Known
	}
	switch {
	case w.Basis == placement.WhyByNothing:
		return words.T("why.key.none", "key", patternText(w))
	case !known:
		return words.T("why.key.chunk", "key", patternText(w))
	}
	return words.T("why.key", "key", patternText(w), "values", valuesText(w, false))
}

func chunkText(w placement.Why) string {
	if w.Chunk == nil {
		return words.T("why.chunk.some", "n", format.Count(int64(w.Chunks)), "of", format.Count(int64(w.Of)))
	}
	return words.T("why.chunk", chunkArgs(w)...)
}

func chunkArgs(w placement.Why) []string {
	k := w.Chunk
	return []string{"n", format.Count(int64(k.Position + 1)), "of", format.Count(int64(w.Of)), "min", k.Pattern.Display(k.Min), "max", k.Pattern.Display(k.Max),
		"version", k.Version.String(), "shard", k.Shard}
}

func shardText(s placement.WhyShard, primaries map[string]string) string {
	if !s.Known {
		return words.T("why.shard.unlisted", "shard", s.Name)
	}
	args := []string{"shard", s.Name, "set", s.ReplSet, "hosts", strings.Join(s.Hosts, ", ")}
	if host, ok := primaries[s.Name]; ok {
		return words.T("why.shard.primary", append(args, "primary", host)...)
	}
	return words.T("why.shard", args...)
}

func historyText(h placement.History) string {
	var parts []string
	if m := h.Moved; m != nil {
		parts = append(parts, words.T("why.moved", "from", m.From, "to", m.To, "at", fullTime(m.At)))
	}
	if c := h.Cut; c != nil {
		key := "why.split"
		switch c.What {
		case "merge", "autoMerge":
			key = "why.merged"
		case "shardCollection.end":
			key = "why.created"
		}
		parts = append(parts, words.T(key, "at", fullTime(c.At)))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, " ")
	case h.State == placement.HistoryUnread:
		return words.T("why.unread")
	case h.Held.IsZero():
		return words.T("why.before.empty")
	}
	return words.T("why.before", "at", fullTime(h.Held))
}

func zoneText(w placement.Why) string {
	z := w.Zone
	args := []string{"zone", z.Zone, "shards", joinWords(z.Shards)}
	if w.Chunk != nil {
		args = append(args, "min", w.Chunk.Pattern.Display(z.Min), "max", w.Chunk.Pattern.Display(z.Max))
	}
	code := string(z.State)
	if z.State == placement.ZoneWrong && len(z.Shards) == 0 {
		code = "noshard"
	}
	return words.T("why.zone."+code, args...)
}

// fullTime is an instant for texts that are kept: to the second, in UTC.
func fullTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }
