package data

import (
	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// DeepestLevel is where a million chunks are one to a tile.
const DeepestLevel = 20

// TileParameters choose a tile: the index-th of 2^level.
func TileParameters(level, index *int) param.List {
	return param.List{param.Number(level, "level", 0, DeepestLevel, "the chunks are cut into 2^level tiles"),
		param.NumberTo(index, "index", "tile, from 0; default 0", 0, func() int { return 1<<*level - 1 })}
}

// ChunkTileQuery is a tile of the chunk map.
type ChunkTileQuery struct{ level, index int }

// Parameters are those of the address of a tile.
func (q *ChunkTileQuery) Parameters() param.List { return TileParameters(&q.level, &q.index) }

// ChunkTile is one tile of the chunk map. A collection of a million chunks is drawn from
// tiles of bounded size: neighbours on the same shard are one run, and where even
// those are too many, fixed cells hold their counts.
func ChunkTile(v answer.View, c *topology.Collection, q ChunkTileQuery) api.Tile {
	n := c.Chunks.Len()
	out := api.Tile{
		NS: string(c.NS), Level: q.level, Index: q.index, Total: n, From: n * q.index >> q.level, To: n * (q.index + 1) >> q.level,
		Freshness: answer.FreshnessOf(v, topology.PartRouting),
	}
	out.Runs = TileRuns(c, out.From, out.To)
	return out
}

// MaxRuns bounds a tile: more stripes than a screen has pixels for.
const MaxRuns = 512

// TileRuns merges the chunks [from, to) into runs by shard, or into MaxRuns
// cells of equal chunk count when there are more runs than that.
func TileRuns(c *topology.Collection, from, to int) []api.TileRun {
	out := []api.TileRun{}
	runs := 0
	for i := from; i < to; i++ {
		if i == from || c.Chunks.Owner(i) != c.Chunks.Owner(i-1) {
			runs++
		}
	}
	cells := runs > MaxRuns
	var edges shardkey.Range
	shards := map[string]int{}
	next := from // where the current run or cell ends, when it is a cell
	for i, ch := range c.Chunks.Range(from, to) {
		fresh := len(out) == 0 || !cells && ch.Shard != out[len(out)-1].Shard || cells && i >= next
		if fresh {
			finish(c, out, edges, shards, cells)
			out = append(out, api.TileRun{From: i, Shard: ch.Shard})
			edges.Min, shards = ch.Min, map[string]int{}
			next = from + (to-from)*len(out)/MaxRuns
		}
		edges.Max = ch.Max
		shards[ch.Shard]++
		last := &out[len(out)-1]
		last.Chunks++
		if ch.Jumbo {
			last.Jumbo++
		}
	}
	finish(c, out, edges, shards, cells)
	return out
}

// finish writes the bounds of the last run and, for a cell, its shards.
func finish(c *topology.Collection, out []api.TileRun, edges shardkey.Range, shards map[string]int, cells bool) {
	if len(out) == 0 {
		return
	}
	last := &out[len(out)-1]
	last.Min, last.Max = answer.KeyOf(c.Key, edges.Min), answer.KeyOf(c.Key, edges.Max)
	if !cells {
		return
	}
	last.Shards = shards
	for shard, n := range shards {
		if best := shards[last.Shard]; n > best || n == best && shard < last.Shard {
			last.Shard = shard
		}
	}
}
