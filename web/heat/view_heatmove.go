package heat

import (
	"fmt"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// shardWrites is what each shard takes of all collections whose new rows are
// counted; nil when nothing was counted. A shard that is not there takes nothing of
// what was counted.
func shardWrites(s *site.Site, v answer.View, q answer.HeatQuery) map[string]float64 {
	windows, err := heatWindows(s, v, "", q.Window)
	if err != nil || !slices.ContainsFunc(windows, func(w heat.Window) bool { return w.Seconds > 0 }) {
		return nil
	}
	out := map[string]float64{}
	for _, sum := range heat.Sums(windows, func(w heat.Window) []heat.Line { return w.Shards(v.Table, s.Deps.Profile) }) {
		out[sum.Line.Shard] = sum.Line.Rate.PerSecond
	}
	return out
}

// helping links the plan that helps a hot chunk, where there is one.
func helping(line *templates.HeatChunk, t *topology.Table, c *topology.Collection, i int, split heat.Splitting, writes func() map[string]float64) {
	switch kind, to := answer.HotPlan(t, c, i, split, writes); {
	case kind == actions.SplitHot:
		line.PlanText, line.PlanURL = "Plan to split it where its writes are", answer.HotChunkPlan(c, i)
	case kind == actions.MoveChunk:
		line.PlanText = fmt.Sprintf("Plan to move it to %s, which takes %s writes/s", to, answer.PerSecond(writes()[to]))
		line.PlanURL = answer.PlanURL(actions.MoveChunk, "ns", string(c.NS), "chunk", answer.ChunkRef(c, c.Chunks.At(i).Min), "to", to)
	case to != "":
		line.PlanText = "No shard that may own it takes fewer writes."
	}
}
