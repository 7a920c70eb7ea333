package trying

import (
	"encoding/json"
	"fmt"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/message"
)

// GrowthBatch is what the form needs that makes a batch of the moves.
type GrowthBatch struct {
	Why      string // why no batch can be made; "" if one can
	Plans    string // the items as JSON, at most actions.MostItems
	Items    int
	Of       int // moves in all
	Group    int
	PerShard int
}

// GrowthBatchOf makes the items of a batch of the moves, in their order.
func GrowthBatchOf(v answer.View, q GrowthQuery) (GrowthBatch, error) {
	g, err := planGrowth(v, q)
	if err != nil {
		return GrowthBatch{}, err
	}
	out := GrowthBatch{Of: len(g.plan.Moves), Group: q.Group, PerShard: q.PerShard}
	switch {
	case out.Of == 0:
		out.Why = "Nothing moves, so there is nothing to run."
		return out, nil
	case v.Hidden.Bounds:
		out.Why = "A batch names chunks by their bounds, which you may not see. On this server that needs the role support."
		return out, nil
	}
	moves := g.plan.Moves
	items := make([]api.PlanItem, 0, min(len(moves), actions.MostItems))
	for _, m := range moves[:min(len(moves), actions.MostItems)] {
		if g.in.Shards[m.To].Added {
			out.Why = fmt.Sprintf("%s %s not there yet. Add the shards with sh.addShard while the balancer is off, then open this page with "+
				"add=0: it plans the moves to them.", answer.Counted(q.Add, "shard", "shards"), message.Plural(q.Add, "is", "are"))
			return out, nil
		}
		c := g.from[m.Collection]
		a := actions.Args{NS: c.NS, Chunk: answer.ChunkRef(c, c.Chunks.At(m.Chunk).Min), To: g.in.Shards[m.To].Name}
		items = append(items, api.PlanItem{Kind: string(actions.MoveChunk), Args: api.PlanArgs{RawMessage: a.JSON()}})
	}
	raw, err := json.Marshal(items)
	out.Plans, out.Items = string(raw), len(items)
	return out, err
}
