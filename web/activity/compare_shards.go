package activity

import (
	"cmp"
	"net/url"
	"slices"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/web/templates"
)

// changedShards are all shards, or of many those that changed most in bytes, then in chunks, in natural order.
func changedShards(all []api.ShardChange, whole bool) []api.ShardChange {
	if whole || len(all) <= templates.ManyShards {
		return all
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := all[a], all[b]
		return cmp.Or(cmp.Compare(size(y.BytesMore), size(x.BytesMore)),
			cmp.Compare(max(y.ChunksMore, -y.ChunksMore), max(x.ChunksMore, -x.ChunksMore)))
	})
	order = order[:templates.ListedOfMany]
	slices.Sort(order)
	out := make([]api.ShardChange, len(order))
	for i, at := range order {
		out[i] = all[at]
	}
	return out
}

// size is how large a change is in either direction; an unknown one is the smallest.
func size(more *int64) int64 {
	if more == nil {
		return -1
	}
	return max(*more, -*more)
}

func leftText(shown, all int) string {
	return "The " + format.Count(int64(shown)) + " of " + format.Count(int64(all)) + " shards that changed most."
}

// allShardsURL is the same comparison with every shard.
func (m comparePage) allShardsURL() string {
	u, err := url.Parse(m.address)
	if err != nil {
		return "/compare"
	}
	return templates.WithAllShards("/compare", u.Query())
}
