package changes

import (
	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// planWrites are the writes of each shard before a plan and as expected after it.
func planWrites(v answer.View, writes []actions.WriteEffect) (rows []PlanWrites) {
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
		return templates.Figure{Text: answer.PerSecond(rate) + " writes/s", Known: true, Approx: true, Title: "An estimate from the writes of the last quarter of an hour"}
	}
	r := parts.RefsOf(v.Table)
	for _, w := range writes {
		rows = append(rows, PlanWrites{Shard: r.Of(w.Shard), Before: rate(w.Before), After: rate(w.After),
			BeforeBar: part(w.Before), AfterBar: part(w.After), Same: w.Before == w.After})
	}
	return rows
}
