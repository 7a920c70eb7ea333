package web

import (
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// splitText says what a cut through a chunk would do.
func splitText(c *topology.Collection, s heat.Splitting) string {
	return words.Code("heat.split", s.Code, map[string]string{"share": templates.Share(s.Share), "document": s.Document.Hex(), "key": c.Key.String()})
}

// shardWrites is what each shard takes of all collections whose new rows are
// counted; nil when nothing was counted. A shard that is not there takes nothing of
// what was counted.
func (s *Server) shardWrites(v View, q heatQuery) map[string]float64 {
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

// helping links the plan that helps a hot chunk, where there is one: a cut where
// that divides the load, else a move away from what else its shard takes. What shards take is asked for
// when a chunk needs it.
func helping(line *templates.HeatChunk, t *topology.Table, c *topology.Collection, i int, code string, writes func() map[string]float64) {
	ref := chunkRef(c, c.Chunks.At(i).Min)
	switch code {
	case "divides", "projects":
		line.PlanText, line.PlanURL = words.T("heat.plan"), planURL(actions.Split, "ns", string(c.NS), "chunk", ref)
	case "document", "project", "single":
		switch to := calmest(t, c, i, writes()); to {
		case "":
		case c.Chunks.Owner(i):
			line.PlanText = words.T("heat.plan.none")
		default:
			line.PlanText = words.T("heat.plan.move", "shard", to, "rate", perSecond(writes()[to]))
			line.PlanURL = planURL(actions.MoveChunk, "ns", string(c.NS), "chunk", ref, "to", to)
		}
	}
}
