package writes

import (
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// SplitText says what a split of a chunk would do.
func SplitText(v answer.View, c *topology.Collection, s heat.Splitting) message.Message {
	var text string
	switch s.Code {
	case "single":
		text = "It cannot be split: it holds a single value of the shard key."
	case "document":
		text = "Splitting it would not help: {share} of its writes go to Yorkie document {document}, whose rows stay in one " +
			"chunk. Moving it to a less busy shard would help."
	case "project":
		text = "Splitting it would not help: {share} of its writes come from one project, and the key {key} has no further field " +
			"to divide its rows by. Moving it, or refining the key, would help."
	case "divides":
		text = "Splitting it would divide the load: its busiest Yorkie document takes {share}."
	case "within":
		text = "It can be split within the project that takes {share} of the counted writes, because the key {key} has a further " +
			"field. How the writes of the project would divide is not known."
	case "projects":
		text = "Splitting it between projects would divide the load: the busiest of them takes {share} of the counted writes."
	case "few":
		text = "It can be split, but too few writes were counted in this window to say whether that helps."
	default:
		text = "Whether splitting it helps is not known, because its writers are not known."
	}
	return message.New(s.Code, v.Profile.Words(text),
		message.Share("share", s.Share), message.Text("document", s.DocumentText), message.Text("key", c.Key.String()))
}

// A plan is offered for a chunk from so many writes per second and counted rows on.
const (
	leastPlannedRate = 1.0
	leastPlannedRows = 50
)

// heatPlan is the plan that helps a hot chunk; noMove tells that a move would help,
// but no shard that may own the chunk takes so few writes.
func heatPlan(v answer.View, h HeatSource, c *topology.Collection, l heat.Line, split heat.Splitting,
	writes func() map[string]float64) (plan *api.HeatPlan, noMove bool) {
	if l.Rate.PerSecond < leastPlannedRate || l.Rate.Rows < leastPlannedRows {
		return nil, false // too few writes for a change to be worth it
	}
	i := l.Chunk
	kind, to := HotPlan(v.Table, c, i, l.Rate.PerSecond, split, writes)
	if kind == "" {
		return nil, to != ""
	}
	if !h.Plans {
		return nil, false
	}
	reason := fmt.Sprintf("A chunk of %s on %s takes %s writes/s.", c.NS, c.Chunks.Owner(i), format.PerSecond(l.Rate.PerSecond))
	args := actions.Args{NS: c.NS, Chunk: answer.ChunkRef(c, c.Chunks.At(i).Min), To: to}
	plan = &api.HeatPlan{Kind: string(kind), Args: api.PlanArgs{RawMessage: args.JSON()}, URL: HotChunkPlan(c, reason, i),
		Text: "Plan to split it where its writes are"}
	if kind == actions.MoveChunk {
		plan.URL = answer.PlanURL(actions.MoveChunk, "ns", string(c.NS), "chunk", args.Chunk, "to", to, "reason", reason)
		plan.Text = fmt.Sprintf("Plan to move it to %s, which takes %s writes/s", to, format.PerSecond(writes()[to]))
	}
	if h.Try != nil {
		TryHeatPlan(plan, h.Try)
	}
	return plan, false
}

// TryHeatPlan takes the address off a plan that its own checks block, and says why and until when.
func TryHeatPlan(plan *api.HeatPlan, try offering.TryPlan) {
	t := offering.TryAddress(try, plan.URL)
	if plan.Blocked = strings.TrimSpace(t.Why + " " + t.When); plan.Blocked != "" {
		plan.URL = ""
	}
}

// Calmest is the shard that takes fewest writes of those that may own a chunk, which itself
// takes rate; its own when every other would take as much with it as its own does now. It
// is "" when that is not known, or it cannot move now.
func Calmest(t *topology.Table, c *topology.Collection, i int, rate float64, writes map[string]float64) string {
	zone, straddles := t.ZoneOf(c, i)
	if writes == nil || straddles || c.Resharding || c.MigrationsBlocked {
		return ""
	}
	own := c.Chunks.Owner(i)
	best := own
	for _, s := range t.Shards { // by name
		if !s.Draining && (zone == "" || slices.Contains(s.Zones, zone)) && writes[s.Name] < writes[best] {
			best = s.Name
		}
	}
	if writes[best]+rate >= writes[own] { // the other shard would be the hot one
		return own
	}
	return best
}

// HotPlan is the plan that helps a hot chunk: a split where its writes are, where
// that divides them, else a move of the whole chunk to the shard that takes fewest.
// No kind and a shard says that a move would help, but no shard takes so few writes;
// neither, that nothing is known to help. What shards take is asked for when it is needed.
func HotPlan(t *topology.Table, c *topology.Collection, i int, rate float64, split heat.Splitting,
	writes func() map[string]float64) (kind actions.Kind, to string) {
	if split.HotCut() && len(t.Shards) > 1 {
		return actions.SplitHot, ""
	}
	switch split.Code {
	case "document", "project", "single":
		if to = Calmest(t, c, i, rate, writes()); to != "" && to != c.Chunks.Owner(i) {
			return actions.MoveChunk, to
		}
	}
	return "", to
}

// HotChunkPlan is the address of the form that is filled in to split a hot chunk
// where its writes are, for a reason. Several chunks of one collection, at most 16, go into one plan.
func HotChunkPlan(c *topology.Collection, reason string, chunks ...int) string {
	var refs []string
	for _, i := range chunks {
		refs = append(refs, answer.ChunkRef(c, c.Chunks.At(i).Min))
	}
	name := "chunks"
	if len(refs) == 1 {
		name = "chunk"
	}
	return answer.PlanURL(actions.SplitHot, "ns", string(c.NS), name, strings.Join(refs, " "), "reason", reason)
}
