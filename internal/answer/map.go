package answer

import (
	"shardboard/internal/api"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// maxRuns bounds a tile: more stripes than a screen has pixels for.
const MaxRuns = 512

// tileRuns merges the chunks [from, to) into runs by shard, or into maxRuns
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
	last.Min, last.Max = KeyOf(c.Key, edges.Min), KeyOf(c.Key, edges.Max)
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
