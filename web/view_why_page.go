package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// explainPage draws found things with their reasons, and the proof and counts
// that the address asks for.
func (s *Site) explainPage(r *http.Request, v View, found []placement.Item) ([]templates.LocateItem, error) {
	a, err := askOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	a.Why = true
	items := LocateItems(found)
	Explain(r.Context(), v.Table, s.deps.Prover, found, items, a)
	into := locateItems(v, found, items)
	refs := refsOf(v.Table)
	for i, it := range items {
		m := &into[i].Why
		for _, p := range it.Places {
			m.Places = append(m.Places, whyPlace(p, refs))
		}
		if s.deps.Prover == nil || len(m.Places) == 0 {
			continue
		}
		if !a.Prove {
			m.ProveURL = again(r.URL, "prove")
		}
		if !a.Counts {
			m.CountsURL = again(r.URL, "counts")
		}
	}
	return into, nil
}

// again is the page's own address with one more thing asked.
func again(u *url.URL, name string) string {
	q := u.Query()
	q.Set(name, "1")
	return u.EscapedPath() + "?" + q.Encode()
}

func whyPlace(p api.Place, r refs) templates.WhyPlace {
	ns := topology.Namespace(p.NS)
	out := templates.WhyPlace{NS: p.NS, Name: ns.Collection(), Sentence: p.Sentence}
	for _, s := range p.Shards {
		out.Shards = append(out.Shards, r.of(s))
	}
	out.Steps = whyStepRows(p.Why)
	if c := p.Why.Chunk; c != nil {
		out.URL = chunkURL(ns, c.Ref)
	}
	if p.Proof != nil {
		out.Proof = &templates.WhyProof{Level: proofLevel(p.Proof.State), Text: p.Proof.Text}
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

func proofLevel(state string) string {
	switch placement.ProofState(state) {
	case placement.ProofAgrees, placement.ProofCaughtUp:
		return "ok"
	case placement.ProofDiffers:
		return "bad"
	}
	return "note"
}

func rowsFigure(f api.Figure) templates.Figure {
	t := topology.Figure{Reason: f.Reason}
	if f.Value != nil {
		t = topology.Figure{Known: true, Value: *f.Value, Exact: f.Exact, Method: f.Method, At: f.At}
	}
	return countFigure(t)
}

// chunkURL names a chunk by its lower bound alone: a page is about the
// collection as it is, and a list has a hundred of these addresses.
func chunkURL(ns topology.Namespace, ref string) string {
	if ref == "" {
		return "" // hidden
	}
	_, bound, _ := strings.Cut(ref, ".")
	return collectionURL(ns) + "/chunks/" + url.PathEscape(bound)
}

// besideCollection makes the address relative to the collection's page, whose
// list has a hundred of them. A colon would make it another scheme's.
func besideCollection(address string) string {
	if short := strings.TrimPrefix(address, "/collections/"); !strings.Contains(short, ":") {
		return short
	}
	return address
}

// rulesView draws the verdicts on one chunk.
func rulesView(b api.WhyBalance) templates.WhyRules {
	out := templates.WhyRules{Text: b.Text, Level: "note", Decision: b.Decision, Lead: words.T("rules.lead", "release", b.Release)}
	if b.Release == "" {
		out.Lead = words.T("rules.lead.unknown")
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
func chunkView(v View, c *topology.Collection, i int) templates.WhyChunk {
	k := chunkWhy(v.Table, balance.PlanOf(balance.Situation{Table: v.Table}, c), c, i)
	r := refsOf(v.Table)
	m := templates.WhyChunk{
		NS: string(c.NS), DB: c.NS.Database(), Name: c.NS.Collection(), URL: collectionURL(c.NS),
		Title: words.T("why.chunk.title", "n", strconv.Itoa(i+1), "of", format.Count(int64(c.Chunks.Len()))),
		Chunk: chunkRow(v, c.Key, i, c.Chunks.At(i), r), Rules: rulesView(k.Balance),
	}
	m.Moving = inFlightView(v, movingChunk(v, c, i), flightsListed)
	m.Failed = failedOf(v, c.NS, touches(c, shardkey.Range{Min: c.Chunks.At(i).Min, Max: c.Chunks.At(i).Max}))
	m.Place = templates.WhyPlace{NS: m.NS, Sentence: k.Sentence, URL: chunkURL(c.NS, k.Chunk.Ref), Steps: whyStepRows(&k.Why)}
	return m
}

// dangersView words the moves of a chunk that would fail.
func dangersView(v View, dangers []placement.Danger) []templates.WhyDanger {
	r := refsOf(v.Table)
	var out []templates.WhyDanger
	for _, d := range dangers {
		out = append(out, templates.WhyDanger{
			Shard: r.of(d.Shard),
			Text:  words.T("danger.ids", "shard", d.Shard, "n", format.Count(int64(len(d.IDs))), "id", d.IDs[0].Hex()),
		})
	}
	return out
}

// whyProject draws a project's own chunks with the decision on each.
func whyProject(v View, spread placement.Spread) templates.WhyProject {
	var m templates.WhyProject
	r := refsOf(v.Table)
	rows := projectWhy(v.Table, spread)
	slices.SortStableFunc(rows, func(a, b api.CollectionWhy) int {
		return cmp.Or(cmp.Compare(min(len(b.Chunks), 1), min(len(a.Chunks), 1)), cmp.Compare(a.Basis, b.Basis))
	})
	for _, c := range rows {
		ns := topology.Namespace(c.NS)
		row := templates.WhyCollection{NS: c.NS, Name: ns.Collection(), Text: c.Text, More: c.Of - len(c.Chunks)}
		if len(c.Chunks) == 0 {
			row.More = 0
			// What holds for several collections is said once.
			if n := len(m.Collections); n > 0 && len(m.Collections[n-1].Chunks) == 0 && m.Collections[n-1].Text == c.Text {
				m.Collections[n-1].Name += ", " + row.Name
				continue
			}
		}
		for _, k := range c.Chunks {
			row.Chunks = append(row.Chunks, templates.WhyProjectChunk{
				Title: strings.TrimSpace(words.T("why.chunk.title", "n", strconv.Itoa(k.Chunk.Number), "of", format.Count(int64(k.Chunk.Of)))),
				URL:   chunkURL(ns, k.Chunk.Ref), Shard: r.of(k.Chunk.Shard), Text: k.Balance.Text,
			})
		}
		m.Collections = append(m.Collections, row)
	}
	return m
}
