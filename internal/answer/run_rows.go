package answer

import (
	"fmt"
	"math"
	"strconv"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

func RowsOf(counts []engine.RowCount) []api.RunRows {
	out := make([]api.RunRows, 0, len(counts))
	for _, c := range counts {
		rows := api.RunRows{NS: string(c.NS), Project: c.Project, Before: FigureOf(c.Before), After: FigureOf(c.After), Text: rowsText(c)}
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

// rowsText is one sentence of what was counted, or of why it was not, and one of
// what is written meanwhile.
func rowsText(c engine.RowCount) string {
	args := map[string]string{"ns": string(c.NS), "before": format.Count(c.Before.Value), "after": format.Count(c.After.Value), "most": format.Count(actions.MostCounted)}
	n, both := c.Difference()
	switch {
	case c.Before.Known && c.After.Reason == engine.RowsPending:
		return fmt.Sprintf("%s had %s rows of the project before the first command; they are counted again at the end.", args["ns"], args["before"])
	case !both:
		return words.Code("run.rows.not", notCounted(c).Reason, args)
	}
	text := fmt.Sprintf("%s has %s rows of the project, as before.", args["ns"], args["before"])
	if n != 0 {
		sign := ""
		if n > 0 {
			sign = "+"
		}
		text = fmt.Sprintf("%s had %s rows of the project and has %s (%s) after %s s. That is no failure by itself: rows are written meanwhile.", args["ns"], args["before"], args["after"], (sign + format.Count(n)), strconv.FormatFloat(c.Took().Seconds(), 'f', 1, 64))
	}
	if !c.Writes.Known {
		return text + " " + "How many rows are written a second is not known."
	}
	return text + " " + "About " + strconv.FormatFloat(c.Writes.PerSecond, 'f', 1, 64) + " rows a second are written."
}

// notCounted is the figure that says why there is no difference.
func notCounted(c engine.RowCount) topology.Figure {
	if !c.Before.Known {
		return c.Before
	}
	return c.After
}
