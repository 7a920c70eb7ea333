package web

import (
	"shardboard/internal/actions"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// planWrites are the writes of each shard before a plan and as expected after it.
func planWrites(v View, writes []actions.WriteEffect) (rows []templates.PlanWrites) {
	most := 0.0
	for _, w := range writes {
		most = max(most, w.Before, w.After)
	}
	part := func(rate float64) float64 {
		if most == 0 {
			return 0
		}
		return rate / most
	}
	rate := func(rate float64) templates.Figure {
		return templates.Figure{Text: words.T("plan.writes.rate", "rate", perSecond(rate)), Known: true, Approx: true, Title: words.T("plan.writes.title")}
	}
	r := refsOf(v.Table)
	for _, w := range writes {
		rows = append(rows, templates.PlanWrites{Shard: r.of(w.Shard), Before: rate(w.Before), After: rate(w.After),
			BeforeBar: part(w.Before), AfterBar: part(w.After), Same: w.Before == w.After})
	}
	return rows
}
