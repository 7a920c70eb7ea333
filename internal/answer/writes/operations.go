package writes

import (
	"cmp"
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// OperationsQuery chooses counters.
type OperationsQuery struct{ shard, ns string }

// Parameters are those of the address but those of a page of the list.
func (q *OperationsQuery) Parameters() param.List {
	return param.List{param.Text(&q.shard, "shard", "of this shard"), param.Text(&q.ns, "ns", "of this collection")}
}

// HeatOperations are the reads and writes of each shard for each collection whose counters are read, in the order of
// shards and collections.
func HeatOperations(v answer.View, h HeatSource, q OperationsQuery) ([]api.HeatOperations, error) {
	if h.Counts == nil {
		return nil, fault.New(fault.Unavailable, "Writes are not counted here.")
	}
	var out []api.HeatOperations
	for _, s := range v.Table.Shards {
		if q.shard != "" && s.Name != q.shard {
			continue
		}
		out = append(out, operationsOn(v.Table, h.Counts, s.Name)...)
	}
	if q.ns != "" {
		out = slices.DeleteFunc(out, func(x api.HeatOperations) bool { return x.NS != q.ns })
	}
	slices.SortStableFunc(out, func(a, b api.HeatOperations) int {
		return natural.Compare(a.Shard+" "+a.NS, b.Shard+" "+b.NS)
	})
	return out, nil
}

// operationsOn are those of one shard.
func operationsOn(t *topology.Table, counts *heat.Collector, shard string) (out []api.HeatOperations) {
	loads, spaces := LoadsOn(t, counts, shard)
	for i, l := range loads {
		one := api.HeatOperations{Shard: shard, NS: string(spaces[i]), From: api.Time(l.From), To: api.Time(l.To)}
		if l.Known {
			one.ReadsPerSecond, one.WritesPerSecond = &l.ReadsPerSecond, &l.WritesPerSecond
			one.ReadMillis, one.WriteMillis = answer.MeanMillis(l.ReadsPerSecond, l.ReadLatency),
				answer.MeanMillis(l.WritesPerSecond, l.WriteLatency)
		}
		out = append(out, one)
	}
	all := heat.Together(loads)
	if !all.Known || all.ReadsPerSecond <= 0 {
		return out // with one collection that is not known the shares are not known
	}
	for i, l := range loads {
		share := l.ReadsPerSecond / all.ReadsPerSecond
		out[i].ReadShare = &share
		if all.ReadLatency > 0 {
			time := share * float64(l.ReadLatency) / float64(all.ReadLatency)
			out[i].ReadTimeShare = &time
		}
	}
	return out
}

// LoadsOn are the loads of the collections on a shard whose counters are read.
func LoadsOn(t *topology.Table, counts *heat.Collector, shard string) (loads []heat.Load, spaces []topology.Namespace) {
	for _, c := range t.Collections {
		if by := counts.Load(c.NS); by != nil && c.Chunks != nil && c.Chunks.CountByShard()[shard] > 0 {
			loads, spaces = append(loads, by[shard]), append(spaces, c.NS)
		}
	}
	return loads, spaces
}

// slowestReads are the operations of all shards, those first whose reads take most of the time.
func slowestReads(v answer.View, h HeatSource) (out []api.HeatOperations) {
	for _, s := range v.Table.Shards {
		out = append(out, operationsOn(v.Table, h.Counts, s.Name)...)
	}
	busy := func(x api.HeatOperations) float64 {
		if x.ReadMillis == nil {
			return 0
		}
		return *x.ReadsPerSecond * *x.ReadMillis
	}
	slices.SortStableFunc(out, func(a, b api.HeatOperations) int { return cmp.Compare(busy(b), busy(a)) })
	return out
}
