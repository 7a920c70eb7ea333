package answer

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// Prover asks the cluster about places: its own routing and row counts.
type Prover interface {
	Prove(context.Context, placement.Place) placement.Proof
	Count(context.Context, placement.Place) topology.Figure
	Primaries(context.Context) map[string]string
}

// Ask says what a locate answer holds beyond the places.
type Ask struct {
	Why    bool // the chain and the sentence; reads nothing
	Prove  bool // one explain per place, and who is primary
	Counts bool // one query per place
}

func (a Ask) any() bool { return a.Why || a.Prove || a.Counts }

// askOf reads why=1, prove=1 and counts=1.
func AskOf(q url.Values) (a Ask, err error) {
	for name, into := range map[string]*bool{"why": &a.Why, "prove": &a.Prove, "counts": &a.Counts} {
		given, err := flag(q, name)
		if err != nil {
			return a, err
		}
		*into = given != nil && *given
	}
	return a, nil
}

// What one answer may ask the cluster, and how much of it at a time.
const (
	MaxAsked   = 24
	askWorkers = 4
	askWait    = 10 * time.Second
)

// Explain fills in what was asked for of found things: items are those that
// LocateItems made of them. A place that has moved meanwhile is replaced in both. The table should be the one they were found in;
// prover may be nil when nothing of the cluster is asked.
func Explain(ctx context.Context, t *topology.Table, prover Prover, found []placement.Item, items []api.LocateItem, a Ask) {
	if !a.any() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	var primaries map[string]string
	if a.Prove && prover != nil {
		primaries = prover.Primaries(ctx)
	}
	var workers sync.WaitGroup
	gate := make(chan struct{}, askWorkers)
	n := 0
	for i, it := range found {
		for j, p := range it.Places {
			out := &items[i].Places[j]
			if a.Why {
				w := placement.WhyOf(t, p)
				why := whyOf(t, p.NS, w, primaries)
				out.Why, out.Sentence = &why, sentenceOf(p.NS, w)
			}
			if prover == nil || !a.Prove && !a.Counts {
				continue
			}
			if n++; n > MaxAsked {
				notAsked(out, a)
				continue
			}
			gate <- struct{}{}
			workers.Go(func() {
				defer func() { <-gate }()
				if now := ask(ctx, prover, p, out, a, primaries); now != nil {
					found[i].Places[j] = *now
				}
			})
		}
	}
	workers.Wait()
	for i := range items {
		for j := range items[i].Places {
			p := &items[i].Places[j]
			takeCount(p)
			if more := ticketRows(p.Rows); more != "" && p.Sentence != "" && p.State != "absent" {
				p.Sentence = sanitize.Sentence(strings.TrimSuffix(p.Sentence, ".") + ", " + more + ".")
			}
		}
		items[i].Answer = HeadlineOf(items[i]).sentence()
	}
}

// ask runs on a goroutine of its own; nothing in it panics on cluster data,
// which the driver has already validated. It gives the place as it is by now
// when the table that was read again for the proof has it elsewhere.
func ask(ctx context.Context, prover Prover, p placement.Place, out *api.Place, a Ask, primaries map[string]string) (now *placement.Place) {
	if a.Prove {
		found := prover.Prove(ctx, p)
		if now = found.Moved; now != nil {
			p, *out = *now, placeOf(*now)
			if a.Why {
				w := placement.WhyOf(found.Table, p)
				why := whyOf(found.Table, p.NS, w, primaries)
				out.Why, out.Sentence = &why, sentenceOf(p.NS, w)
			}
		}
		proof := proofOf(found)
		out.Proof = &proof
	}
	if a.Counts {
		rows := FigureOf(prover.Count(ctx, p))
		out.Rows = &rows
	}
	return now
}

func notAsked(out *api.Place, a Ask) {
	if a.Prove {
		out.Proof = &api.Proof{State: string(placement.ProofSkipped), Ours: NotNil(out.Shards), Theirs: []string{}, Text: "Not asked: one answer proves at most " + strconv.Itoa(MaxAsked) + " places."}
	}
	if a.Counts {
		out.Rows = &api.Figure{Reason: "notAsked"}
	}
}

func proofOf(p placement.Proof) api.Proof {
	out := api.Proof{State: string(p.State), Ours: NotNil(p.Ours), Theirs: NotNil(p.Theirs), Newer: string(p.Newer), Reread: p.Reread, Seq: p.Seq,
		Read: api.Time(p.Read), At: api.Time(p.At)}
	code := out.State
	switch {
	case p.State == placement.ProofDiffers && p.Newer == "":
		code += ".unsure"
	case p.State == placement.ProofDiffers, p.State == placement.ProofCaughtUp:
		code += "." + out.Newer
	}
	why := ""
	if p.Err != nil {
		why = fault.Text(p.Err)
	}
	out.Text = sanitize.Sentence(words.Code("proof", code, map[string]string{"ours": shardList(p.Ours), "theirs": shardList(p.Theirs), "why": why}))
	return out
}

func shardList(names []string) string {
	if len(names) == 0 {
		return "no shard"
	}
	return JoinWords(names)
}

// whyFreshness is the age of what the rules look at.
func WhyFreshness(v View) api.Freshness {
	return FreshnessOf(v, topology.PartRouting, topology.PartShards)
}

func ChunkWhy(t *topology.Table, p *balance.Plan, c *topology.Collection, i int) api.ChunkWhy {
	w := placement.WhyChunkOf(t, c, i)
	return api.ChunkWhy{
		NS: string(c.NS), Chunk: whyChunkOf(c, w), Why: whyOf(t, c.NS, w, nil), Balance: balanceOf(p, i),
		Sentence: sentenceOf(c.NS, w),
	}
}

// projectWhy explains the collections of a project that exist: its own chunks
// where the key begins with the project, the rule alone elsewhere.
func ProjectWhy(t *topology.Table, spread placement.Spread) []api.CollectionWhy {
	out := []api.CollectionWhy{}
	for _, cs := range spread.Collections {
		if cs.Presence == placement.PresenceNo {
			continue
		}
		row := api.CollectionWhy{NS: string(cs.NS), Basis: cs.Basis, Text: placement.BasisText(cs.Basis), Of: cs.ChunkCount, Chunks: []api.ChunkWhy{}}
		switch {
		case cs.Basis == placement.BasisPrimary && len(cs.Shards) == 1:
			row.Text = fmt.Sprintf("Not sharded, so all of it is on %s, the primary shard of %s.", cs.Shards[0].Shard, cs.NS.Database())
		case cs.Basis == placement.BasisByDocument:
			row.Text = "Placed document by document, so no chunk is this project's own: locate a document to see why it is where it is."
		}
		if c := t.Collection(cs.NS); c != nil && cs.Basis == placement.BasisKeyPrefix {
			plan := balance.PlanOf(balance.Situation{Table: t}, c)
			for _, ch := range cs.Chunks[:min(len(cs.Chunks), ChunksListed)] {
				i, _ := c.Chunks.Find(ch.Min)
				row.Chunks = append(row.Chunks, ChunkWhy(t, plan, c, i))
			}
		}
		out = append(out, row)
	}
	return out
}

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
		shard := api.WhyShard{Shard: s.Name, ReplSet: s.ReplSet, Hosts: NotNil(s.Hosts), Draining: s.Draining}
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
		out.Zone = &api.WhyZone{State: string(z.State), Zone: z.Zone, Shards: NotNil(z.Shards)}
		if w.Chunk != nil {
			out.Zone.Min, out.Zone.Max = KeyOf(w.Chunk.Pattern, z.Min), KeyOf(w.Chunk.Pattern, z.Max)
		}
	}
	out.Steps = whySteps(ns, w, primaries)
	return out
}

func whyChunkOf(c *topology.Collection, w placement.Why) api.WhyChunk {
	k := w.Chunk
	out := api.WhyChunk{
		Number: k.Position + 1, Of: w.Of, Min: KeyOf(k.Pattern, k.Min), Max: KeyOf(k.Pattern, k.Max), Shard: k.Shard,
		Version: api.Version{Major: k.Version.Major, Minor: k.Version.Minor}, Since: api.Instant(k.Since), Jumbo: k.Jumbo,
	}
	if c != nil {
		out.Ref = ChunkRef(c, k.Min)
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
		step("rule", "There is no such collection, so nothing is anywhere.")
		return out
	case placement.WhyUnknown:
		step("rule", "Not known: neither a shard key nor the primary shard of "+db+" is readable.")
		return out
	case placement.WhyPrimary:
		step("rule", fmt.Sprintf("Not sharded, so all of it is on %s, the primary shard of %s.", w.Primary, db))
	case placement.WhyTracked:
		step("rule", "Not sharded; it was given a shard of its own by moveCollection.")
	default:
		step("key", keyText(w))
		for _, f := range w.Fields {
			if f.Hash != nil {
				step("hash", fmt.Sprintf("%s is hashed: %s.", f.Name, strconv.FormatInt(*f.Hash, 10)))
			}
		}
		step("chunk", chunkText(w))
	}
	for _, s := range w.Shards {
		step("shard", shardText(s, primaries))
	}
	if w.Chunk != nil {
		if at := w.Chunk.SinceTime(); at.IsZero() {
			step("since", "Not known: the server keeps no time of arrival for this chunk.")
		} else {
			step("since", fullTime(at)+", by the chunk's own history.")
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
			parts = append(parts, fmt.Sprintf("%s is %s", f.Name, shardkey.DisplayValue(f.Value)))
		case !short:
			parts = append(parts, f.Name+" is not known")
		}
	}
	return JoinWords(parts)
}

func keyText(w placement.Why) string {
	known := false
	for _, f := range w.Fields {
		known = known || f.Known
	}
	switch {
	case w.Basis == placement.WhyByNothing:
		return patternText(w) + ": none of it is known, so any chunk can hold a row."
	case !known:
		return patternText(w) + "."
	}
	return fmt.Sprintf("%s: %s.", patternText(w), valuesText(w, false))
}

func chunkText(w placement.Why) string {
	if w.Chunk == nil {
		return fmt.Sprintf("%s of %s chunks can hold it.", format.Count(int64(w.Chunks)), format.Count(int64(w.Of)))
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
		return s.Name + ", which the list of shards does not have."
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
		parts = append(parts, fmt.Sprintf("Moved from %s to %s at %s.", m.From, m.To, fullTime(m.At)))
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
		return "Not known: the changelog is not readable."
	case h.Held.IsZero():
		return "Nothing is known: the changelog that is held has no entries."
	}
	return "Before " + fullTime(h.Held) + ", the oldest entry of the changelog that is held."
}

func zoneText(w placement.Why) string {
	z := w.Zone
	args := []string{"zone", z.Zone, "shards", JoinWords(z.Shards)}
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
