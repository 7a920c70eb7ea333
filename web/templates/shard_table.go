package templates

import (
	"cmp"
	"slices"

	"shardboard/internal/api"
	"shardboard/internal/format"
)

// shardRow is a shard with its cells: data, documents and chunks.
type shardRow struct {
	api.Shard
	Cells [3]Cell
}

// shardList are the rows of the table of shards in natural order, and what their columns' titles say.
type shardList struct {
	Rows   []shardRow
	Titles [3]string
	Left   int // shards that are not listed
}

// shardRows are all shards, or of many the fullest and those that are being removed. Shares and bars are those
// among all.
func shardRows(all []api.Shard, whole bool) (out shardList) {
	columns := ShardCells(all)
	for i := range out.Titles {
		out.Titles[i] = CommonTitle(columns[i])
	}
	listed := fullest(all, whole)
	for i, s := range all {
		if listed[s.Name] {
			out.Rows = append(out.Rows, shardRow{Shard: s, Cells: [3]Cell{columns[0][i], columns[1][i], columns[2][i]}})
		}
	}
	out.Left = len(all) - len(out.Rows)
	return out
}

// fullest are the names of the shards to list. Where no size is known, the chunks decide.
func fullest(all []api.Shard, whole bool) map[string]bool {
	out, order := map[string]bool{}, slices.Clone(all)
	bytes := func(s api.Shard) int64 {
		if s.Bytes.Value == nil {
			return -1
		}
		return *s.Bytes.Value
	}
	slices.SortStableFunc(order, func(a, b api.Shard) int {
		return cmp.Or(cmp.Compare(bytes(b), bytes(a)), cmp.Compare(b.Chunks, a.Chunks))
	})
	for i, s := range order {
		if whole || len(all) <= ManyShards || i < ListedOfMany || s.Draining {
			out[s.Name] = true
		}
	}
	return out
}

// leftText says which shards are listed.
func (l shardList) leftText(all int) string {
	return "The " + format.Count(int64(len(l.Rows))) + " fullest of " + format.Count(int64(all)) + " shards."
}
