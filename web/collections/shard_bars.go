package collections

import (
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/web/templates"
)

// shardBar is how one collection is spread over the shards.
type shardBar struct {
	bar     templates.Measure
	fullest templates.ShardRef // the shard with most of it; none while sizes are not known
	share   string             // its part of the collection
}

// How much of a bar in a table's cell a shard's label needs, and that of the other shards together, on a phone too:
// half a number is another shard's.
const (
	cellLabelShare  = 0.08
	cellOthersShare = 0.16
)

// barOf draws the collection's data by shard; its chunks while sizes are not known.
func barOf(c api.Collection, refs templates.Refs) (out shardBar) {
	top, fullest := -1.0, ""
	for _, p := range c.Shards {
		if p.ByteShare > top {
			top, fullest = p.ByteShare, p.Shard
		}
	}
	if fullest != "" {
		out.fullest, out.share = refs.Of(fullest), format.Share(top)
	}
	if out.bar = templates.PartsMeasure(c.Shards, refs, out.fullest.Name, true); out.bar.Why != "" && top < 0 {
		out.bar = templates.PartsMeasure(c.Shards, refs, out.fullest.Name, false)
	}
	if top < 0 {
		out.fullest = templates.ShardRef{}
	}
	if c.Damage != nil && len(c.Shards) == 0 {
		out.bar.Why = "Which shards have it is not known."
	}
	for i, p := range out.bar.Parts {
		switch {
		case p.Share < cellLabelShare, p.Shard.Name == "" && p.Share < cellOthersShare:
			out.bar.Parts[i].Label = ""
		case p.Shard.Name != "":
			out.bar.Parts[i].Label = p.Shard.Label
		}
	}
	return out
}
