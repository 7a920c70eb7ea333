package answer

import (
	"slices"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// splitText says what a cut through a chunk would do.
func SplitText(c *topology.Collection, s heat.Splitting) string {
	return words.Code("heat.split", s.Code, map[string]string{"share": format.Share(s.Share), "document": s.Document.Hex(), "key": c.Key.String()})
}

// calmest is the shard that takes fewest writes of those that may own a chunk, its
// own when none takes fewer; "" when that is not known, or it cannot move now.
func Calmest(t *topology.Table, c *topology.Collection, i int, writes map[string]float64) string {
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
func HotPlan(t *topology.Table, c *topology.Collection, i int, split heat.Splitting, writes func() map[string]float64) (kind actions.Kind, to string) {
	if split.HotCut() && len(t.Shards) > 1 {
		return actions.SplitHot, ""
	}
	switch split.Code {
	case "document", "project", "single":
		if to = Calmest(t, c, i, writes()); to != "" && to != c.Chunks.Owner(i) {
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
		refs = append(refs, ChunkRef(c, c.Chunks.At(i).Min))
	}
	name := "chunks"
	if len(refs) == 1 {
		name = "chunk"
	}
	return PlanURL(actions.SplitHot, "ns", string(c.NS), name, strings.Join(refs, " "))
}
