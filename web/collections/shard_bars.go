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

// barOf draws the collection's data by shard; its chunks while sizes are not known. A cell of a table is as wide as a
// phone, so it has the words that fit there.
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
		out.bar.Parts[i].Also = ""
		if p.Tight && p.Also == "" {
			out.bar.Parts[i].Label = ""
		}
	}
	return out
}
