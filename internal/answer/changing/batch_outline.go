package changing

import (
	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
)

// batchLines say how the items of a batch follow each other: the canary, the groups, and what holds between them.
func batchLines(p actions.Plan) (out []api.PlanLine) {
	say := func(code, pattern string, facts ...message.Fact) {
		out = append(out, api.PlanLine{Text: message.New("batch."+code, pattern, facts...)})
	}
	perGroup, groups := map[int]int{}, 0
	for _, s := range p.Steps {
		if s.Item != nil {
			perGroup[s.Item.Group]++
			groups = max(groups, s.Item.Group)
		}
	}
	if groups == 0 {
		return nil
	}
	size := 0
	for _, n := range perGroup {
		size = max(size, n)
	}
	facts := []message.Fact{message.Count("groups", groups), message.Count("size", size)}
	switch canary := p.Args.Canary == nil || *p.Args.Canary; {
	case groups == 1:
		say("one", "All of them are one group")
	case canary && groups == 2:
		say("canary.one", "The first runs alone as the canary, then the others as one group")
	case canary:
		facts[0] = message.Count("groups", groups-1)
		say("canary", "The first runs alone as the canary, then {groups} groups of up to {size}", facts...)
	default:
		say("groups", "They run in {groups} groups of up to {size}", facts...)
	}
	say("health", "After each group, the shards' health is looked at and rows are compared; the batch pauses if something is wrong")
	atOnce := max(p.Args.PerShard, 1)
	say("pershard", message.Plural(atOnce, "One item at a time moves chunks of a shard", "Up to {n} items at a time move chunks of a shard"),
		message.Count("n", atOnce))
	if n := p.Args.ChunksPerHour; n > 0 {
		say("chunks", message.Plural(n, "At most one chunk an hour", "At most {n} chunks an hour"), message.Count("n", n))
	}
	if n := p.Args.BytesPerHour; n > 0 {
		say("bytes", "At most {n} an hour", message.Words("n", format.Bytes(int64(n))))
	}
	return out
}
