package web

import (
	"slices"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// splitText says what a cut through a chunk would do.
func splitText(c *topology.Collection, s heat.Splitting) string {
	return words.Code("heat.split", s.Code, map[string]string{"share": format.Share(s.Share), "document": s.Document.Hex(), "key": c.Key.String()})
}

// shardWrites is what each shard takes of all collections whose new rows are
// counted; nil when nothing was counted. A shard that is not there takes nothing of
// what was counted.
func (s *Site) shardWrites(v View, q heatQuery) map[string]float64 {
	windows, err := s.heatWindows(v, "", q.window)
	if err != nil || !slices.ContainsFunc(windows, func(w heat.Window) bool { return w.Seconds > 0 }) {
		return nil
	}
	out := map[string]float64{}
	for _, sum := range heat.Sums(windows, func(w heat.Window) []heat.Line { return w.Shards(v.Table, s.deps.Profile) }) {
		out[sum.Line.Shard] = sum.Line.Rate.PerSecond
	}
	return out
}

// calmest is the shard that takes fewest writes of those that may own a chunk, its
// own when none takes fewer; "" when that is not known, or it cannot move now.
func calmest(t *topology.Table, c *topology.Collection, i int, writes map[string]float64) string {
	zone, straddles := t.ZoneOf(c, i)
	if writes == nil || straddles || c.Resharding || c.MigrationsBlocked {
		return ""
	}
	best := c.Chunks.Owner(i)
	for _, s := range t.Shards { // by name
		if !s.Draining && (zone == "" || slices.Contains(s.Zones, zone)) && writes[s.Name] < writes[best] {
			best = s.Name
		}
	}
	return best
}

// hotPlan is the plan that helps a hot chunk: a split where its writes are, where
// that divides them, else a move of the whole chunk to the shard that takes fewest.
// No kind and a shard says that no shard takes fewer writes than its own; neither,
// that nothing is known to help. What shards take is asked for when it is needed.
func hotPlan(t *topology.Table, c *topology.Collection, i int, split heat.Splitting, writes func() map[string]float64) (kind actions.Kind, to string) {
	if split.HotCut() && len(t.Shards) > 1 {
		return actions.SplitHot, ""
	}
	switch split.Code {
	case "document", "project", "single":
		if to = calmest(t, c, i, writes()); to != "" && to != c.Chunks.Owner(i) {
			return actions.MoveChunk, to
		}
	}
	return "", to
}

// HotChunkPlan is the address of the form that is filled in to split a hot chunk
// where its writes are. Several chunks of one collection, at most 16, go into one plan.
func HotChunkPlan(c *topology.Collection, chunks ...int) string {
	var refs []string
	for _, i := range chunks {
		refs = append(refs, chunkRef(c, c.Chunks.At(i).Min))
	}
	name := "chunks"
	if len(refs) == 1 {
		name = "chunk"
	}
	return planURL(actions.SplitHot, "ns", string(c.NS), name, strings.Join(refs, " "))
}

// helping links the plan that helps a hot chunk, where there is one.
func helping(line *templates.HeatChunk, t *topology.Table, c *topology.Collection, i int, split heat.Splitting, writes func() map[string]float64) {
	switch kind, to := hotPlan(t, c, i, split, writes); {
	case kind == actions.SplitHot:
		line.PlanText, line.PlanURL = words.T("heat.plan.splitHot"), HotChunkPlan(c, i)
	case kind == actions.MoveChunk:
		line.PlanText = words.T("heat.plan.move", "shard", to, "rate", perSecond(writes()[to]))
		line.PlanURL = planURL(actions.MoveChunk, "ns", string(c.NS), "chunk", chunkRef(c, c.Chunks.At(i).Min), "to", to)
	case to != "":
		line.PlanText = words.T("heat.plan.none")
	}
}
