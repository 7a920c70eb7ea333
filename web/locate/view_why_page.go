package locate

import (
	"fmt"
	"net/http"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/site"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// explainPage draws found things with their reasons, and the proof and counts
// that the address asks for.
func explainPage(s *site.Site, r *http.Request, v answer.View, found []placement.Item) ([]LocateItem, error) {
	a, err := answer.AskOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	a.Why = true
	items := answer.LocateItems(found)
	answer.Explain(r.Context(), v.Table, s.Deps.Prover, found, items, a)
	into := locateItems(v, found, items)
	refs := parts.RefsOf(v.Table)
	for i, it := range items {
		m := &into[i].Why
		for _, p := range it.Places {
			m.Places = append(m.Places, whyPlace(p, refs))
		}
		if s.Deps.Prover == nil || len(m.Places) == 0 {
			continue
		}
		if !a.Prove {
			m.ProveURL = answer.Again(r.URL, "prove")
		}
		if !a.Counts {
			m.CountsURL = answer.Again(r.URL, "counts")
		}
	}
	return into, nil
}

func whyPlace(p api.Place, r parts.Refs) templates.WhyPlace {
	ns := topology.Namespace(p.NS)
	out := templates.WhyPlace{NS: p.NS, Name: ns.Collection(), Sentence: p.Sentence}
	for _, s := range p.Shards {
		out.Shards = append(out.Shards, r.Of(s))
	}
	out.Steps = whyStepRows(p.Why)
	if c := p.Why.Chunk; c != nil {
		out.URL = answer.ChunkURL(ns, c.Ref)
	}
	if p.Proof != nil {
		out.Proof = &templates.WhyProof{Level: answer.ProofLevel(p.Proof.State), Text: p.Proof.Text}
	}
	if p.Rows != nil {
		f := rowsFigure(*p.Rows)
		out.Rows = &f
	}
	return out
}

func whyStepRows(w *api.Why) []templates.WhyStep {
	out := make([]templates.WhyStep, 0, len(w.Steps))
	for _, s := range w.Steps {
		out = append(out, templates.WhyStep{Name: words.Code("why.step", s.Step, nil), Text: sanitize.Sentence(s.Text)})
	}
	return out
}

func rowsFigure(f api.Figure) templates.Figure {
	t := topology.Figure{Reason: f.Reason}
	if f.Value != nil {
		t = topology.Figure{Known: true, Value: *f.Value, Exact: f.Exact, Method: f.Method, At: f.At}
	}
	return parts.CountFigure(t)
}

// rulesView draws the verdicts on one chunk.
func rulesView(b api.WhyBalance) templates.WhyRules {
	out := templates.WhyRules{Text: b.Text, Level: "note", Decision: b.Decision, Lead: "Every rule of the balancer of MongoDB " + b.Release + ", in its order."}
	if b.Release == "" {
		out.Lead = "The server's version is not known, so the rules that differ by version are open."
	}
	if b.Decision == string(balance.Moves) || b.Due == "" {
		out.Level = "ok"
	}
	if b.Due != "" && b.Decision == string(balance.Stays) {
		out.Level = "bad" // it is due and cannot: that needs a person
	}
	for _, r := range b.Rules {
		out.Rules = append(out.Rules, templates.WhyRule{Name: words.Code("rulename", r.Rule, nil), Outcome: r.Verdict, Word: words.Code("outcome", r.Verdict, nil), Text: r.Text})
	}
	return out
}

// chunkView is the page of one chunk.
func chunkView(v answer.View, c *topology.Collection, i int) templates.WhyChunk {
	k := answer.ChunkWhy(v.Table, balance.PlanOf(balance.Situation{Table: v.Table}, c), c, i)
	r := parts.RefsOf(v.Table)
	m := templates.WhyChunk{
		NS: string(c.NS), DB: c.NS.Database(), Name: c.NS.Collection(), URL: answer.CollectionURL(c.NS),
		Title: fmt.Sprintf("Chunk %s of %s", strconv.Itoa(i+1), format.Count(int64(c.Chunks.Len()))),
		Chunk: parts.ChunkRow(v, c.Key, i, c.Chunks.At(i), r), Rules: rulesView(k.Balance),
	}
	m.Moving = parts.InFlightView(v, answer.MovingChunk(v, c, i), answer.FlightsListed)
	m.Failed = parts.FailedOf(v, c.NS, answer.Touches(c, shardkey.Range{Min: c.Chunks.At(i).Min, Max: c.Chunks.At(i).Max}))
	m.Place = templates.WhyPlace{NS: m.NS, Sentence: k.Sentence, URL: answer.ChunkURL(c.NS, k.Chunk.Ref), Steps: whyStepRows(&k.Why)}
	return m
}

// dangersView words the moves of a chunk that would fail.
func dangersView(v answer.View, dangers []placement.Danger) []templates.WhyDanger {
	r := parts.RefsOf(v.Table)
	var out []templates.WhyDanger
	for _, d := range dangers {
		out = append(out, templates.WhyDanger{
			Shard: r.Of(d.Shard),
			Text:  fmt.Sprintf("To %s: %s of its ids are there already, such as %s.", d.Shard, format.Count(int64(len(d.IDs))), d.IDs[0].Hex()),
		})
	}
	return out
}
