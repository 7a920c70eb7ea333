package spread

import (
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// FillActivity adds what a shard is busy with.
func FillActivity(v answer.View, out *api.ShardDetail) {
	byShard := newMatrixWrites(v, v.Counts).total()
	var all amount
	for _, a := range byShard {
		all = all.plus(a)
	}
	here := byShard[slices.IndexFunc(v.Table.Shards, func(s topology.Shard) bool { return s.Name == out.Name })]
	out.Window, out.Writes = v.WritesWindow().String(), here.rate(v.Now)
	if share := here.of(all); share >= 0 && !all.atLeast {
		out.WriteShare = &share
	}
	if v.Counts == nil || v.Past != nil {
		return
	}
	loads, spaces := writes.LoadsOn(v.Table, v.Counts, out.Name)
	sum := heat.Together(loads)
	if !sum.Known {
		return
	}
	o := &out.Operations
	o.From, o.To = api.Time(sum.From), api.Time(sum.To)
	o.ReadsPerSecond, o.WritesPerSecond = &sum.ReadsPerSecond, &sum.WritesPerSecond
	o.ReadMillis, o.WriteMillis = answer.MeanMillis(sum.ReadsPerSecond, sum.ReadLatency), answer.MeanMillis(sum.WritesPerSecond,
		sum.WriteLatency)
	for i, l := range loads {
		if share := l.ReadsPerSecond / sum.ReadsPerSecond; sum.ReadsPerSecond > 0 && (o.ReadShare == nil || share > *o.ReadShare) {
			o.MostRead, o.ReadShare = string(spaces[i]), &share
		}
	}
}
