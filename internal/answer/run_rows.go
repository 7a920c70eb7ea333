package answer

import (
	"math"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
)

func RowsOf(counts []engine.RowCount) []api.RunRows {
	out := make([]api.RunRows, 0, len(counts))
	for _, c := range counts {
		rows := api.RunRows{NS: string(c.NS), Project: c.Project, Before: figureOf(c.Before), After: figureOf(c.After), Text: c.Text().String()}
		if n, ok := c.Difference(); ok {
			seconds := c.Took().Seconds()
			rows.Difference, rows.Seconds = &n, &seconds
		}
		if c.Writes.Known && !math.IsNaN(c.Writes.PerSecond) && !math.IsInf(c.Writes.PerSecond, 0) {
			rows.WritesPerSecond = &c.Writes.PerSecond
		}
		out = append(out, rows)
	}
	return out
}
