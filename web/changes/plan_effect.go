package changes

import (
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// movesListed bounds the moves that a plan's page lists.
const movesListed = 50

// beforeAfter is one shard before and after a plan, as figures with bars.
type beforeAfter struct {
	Shard               templates.ShardRef
	Before, After       templates.Figure
	BeforeBar, AfterBar float64 // parts of the longest bar; negative when unknown
	Chunks              string  // "" of writes
	Same                bool
}

// sameShown is how many shards that stay as they are a page shows; more are folded.
const sameShown = 6

// foldSame takes those out that stay as they are, where they are many.
func foldSame(rows []beforeAfter) (shown, folded []beforeAfter) {
	for _, r := range rows {
		if r.Same {
			folded = append(folded, r)
		} else {
			shown = append(shown, r)
		}
	}
	if len(folded) <= sameShown || len(shown) == 0 {
		return rows, nil
	}
	return shown, folded
}

// shards draws bars of bytes where all are known, else of chunks.
func (m *shownPlan) shards() (rows []beforeAfter, byBytes bool) {
	effects := m.Effect.Shards
	byBytes = !slices.ContainsFunc(effects, func(s api.ShardEffect) bool { return s.BytesBefore.Value == nil || s.BytesAfter.Value == nil })
	sizes := func(s api.ShardEffect) (before, after int64) {
		if byBytes {
			return *s.BytesBefore.Value, *s.BytesAfter.Value
		}
		return s.ChunksBefore, s.ChunksAfter
	}
	most := int64(1)
	for _, s := range effects {
		before, after := sizes(s)
		most = max(most, before, after)
	}
	for _, s := range effects {
		before, after := sizes(s)
		row := beforeAfter{Shard: m.refs.Of(s.Shard), Before: templates.Bytes(s.BytesBefore), After: templates.Bytes(s.BytesAfter),
			BeforeBar: answer.Share(before, most), AfterBar: answer.Share(after, most), Chunks: format.Count(s.ChunksBefore),
			Same: before == after && s.ChunksBefore == s.ChunksAfter}
		if s.ChunksBefore != s.ChunksAfter {
			row.Chunks += " → " + format.Count(s.ChunksAfter)
		}
		rows = append(rows, row)
	}
	return rows, byBytes
}

// writes draws the writes of each shard.
func (m *shownPlan) writes() (rows []beforeAfter) {
	most := 0.0
	for _, w := range m.Effect.Writes {
		most = max(most, w.PerSecondBefore, w.PerSecondAfter)
	}
	bar := func(rate float64) float64 {
		if most == 0 {
			return 0
		}
		return rate / most
	}
	rate := func(rate float64) templates.Figure {
		return templates.Figure{Text: format.PerSecond(rate) + " writes/s", Known: true, Approx: true,
			Title: "An estimate from the writes that were counted before the plan was made"}
	}
	for _, w := range m.Effect.Writes {
		rows = append(rows, beforeAfter{Shard: m.refs.Of(w.Shard), Before: rate(w.PerSecondBefore), After: rate(w.PerSecondAfter),
			BeforeBar: bar(w.PerSecondBefore), AfterBar: bar(w.PerSecondAfter), Same: w.PerSecondBefore == w.PerSecondAfter})
	}
	return rows
}

func (m *shownPlan) cost() []templates.Fact {
	e := m.Effect
	takes := templates.Written(e.DurationMillis, changing.MillisText)
	takes.Text = answer.WithInterval(e.DurationMillis, changing.MillisText)
	facts := []templates.Fact{
		{Name: "Chunks split or moved", Figure: templates.Count(e.Chunks)},
		{Name: "Data to move", Figure: templates.Bytes(e.Bytes)},
		{Name: "Documents to move", Figure: templates.Count(e.Documents)},
		{Name: "Takes about", Figure: takes},
	}
	if b := e.ByBalancer; b != nil {
		facts = append(facts, templates.Fact{Name: "Chunks that the balancer moves then", Figure: templates.Count(b.Chunks)},
			templates.Fact{Name: "Data that the balancer moves then", Figure: templates.Bytes(b.Bytes)})
	}
	return facts
}

// boundText is a bound of a plan or a run as people write it.
func boundText(v answer.View, ns string, k api.Key) string {
	doc, err := shardkey.ParseExtJSON(string(k))
	if err != nil {
		return string(k) // longer than what is read
	}
	return answer.BoundDocumentText(v.Table, topology.Namespace(ns), doc)
}

// riskLevel is how a risk looks.
func riskLevel(risk string) string {
	switch actions.Risk(risk) {
	case actions.Low:
		return "ok"
	case actions.Medium:
		return "note"
	}
	return "bad"
}

// blocked tells whether a check keeps a plan from being run: how risky it is says nothing then.
func blocked(checks []api.PlanCheck) bool {
	return slices.ContainsFunc(checks, func(c api.PlanCheck) bool { return c.Verdict == string(actions.Block) })
}
