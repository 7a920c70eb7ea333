package app

import (
	"context"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// recentWrites gives plans the recent writes by key range: from the counts of heat, and from the
// newest rows where the counts have no shard key.
type recentWrites struct {
	heat *heat.Collector
	rows heat.RowSource
}

// RecentWrites returns the writes of ranges of any collections, in their order.
func (w recentWrites) RecentWrites(ctx context.Context, t *topology.Table, of []actions.Span) actions.Writes {
	out := actions.Writes{Shards: w.heat.ShardRates(t), At: time.Now()}
	asked := map[topology.Namespace]bool{}
	for _, s := range of {
		if asked[s.NS] {
			continue
		}
		asked[s.NS] = true
		var ranges []shardkey.Range
		for _, o := range of {
			if o.NS == s.NS {
				ranges = append(ranges, shardkey.Range{Min: o.Min, Max: o.Max})
			}
		}
		out.Ranges = append(out.Ranges, w.heat.Written(ctx, w.rows, t, s.NS, ranges)...)
	}
	return out
}
