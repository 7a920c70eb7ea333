package mapped

import (
	"math"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// Bounds of the marks of one tile.
const (
	leastMarks   = 16
	defaultMarks = 512
	MostMarks    = 2000
)

// MapTileQuery is a tile of a band: the Index-th of 2^Level.
type MapTileQuery struct{ Level, Index, Marks int }

// Parameters are those of the address of a tile.
func (q *MapTileQuery) Parameters() param.List {
	q.Marks = defaultMarks
	return append(data.TileParameters(&q.Level, &q.Index), param.Number(&q.Marks, "marks", leastMarks, MostMarks, "the most marks"))
}

// MapChunkQuery is a chunk of a band by its number in key order.
type MapChunkQuery struct{ Position int }

// Parameters are those of the address of a chunk of a collection; nil for their description.
func (q *MapChunkQuery) Parameters(c *topology.Collection) param.List {
	return param.List{param.NumberTo(&q.Position, "position", "the chunk's number in key order, from 0; default 0", 0,
		func() int { return max(c.Chunks.Len()-1, 0) })}
}

// MapTile is a part of a collection's band.
func MapTile(v MapView, c *topology.Collection, q MapTileQuery) api.MapTile {
	n := c.Chunks.Len()
	band := v.bandOf(c)
	out := api.MapTile{NS: string(c.NS), Version: band.version, Level: q.Level, Index: q.Index, Total: n,
		From: n * q.Index >> q.Level, To: n * (q.Index + 1) >> q.Level, Shards: answer.NotNil(c.Chunks.ShardNames()),
		Freshness: answer.FreshnessOf(v.View, topology.PartRouting)}
	f := band.of(v, c)
	var starts []int
	starts, out.Exact = markStarts(c.Chunks, out.From, out.To, q.Marks)
	out.Marks = marksOf(c, f, starts, out.To, out.AsOf)
	out.Zones, out.MoreZones = f.zonesIn(v, c, out.From, out.To, tileZones)
	out.HeatIsAtLeast = f.counted && f.atLeast
	return out
}

// markStarts says where the marks of [from, to) begin, at most so many. They are single
// chunks; else neighbours on one shard, cut as finely as the number allows; else, where even
// those are too many, cells of equally many chunks.
func markStarts(m *topology.ChunkMap, from, to, most int) (out []int, exact bool) {
	n := to - from
	if n <= most {
		for i := from; i < to; i++ {
			out = append(out, i)
		}
		return out, true
	}
	runs := m.CountRuns(from, to)
	if runs > most {
		for i := range most {
			out = append(out, from+n*i/most)
		}
		return out, false
	}
	longest := n
	if runs < most {
		longest = (n + most - runs - 1) / (most - runs)
	}
	starts := m.RunStarts(from, to)
	for i, start := range starts {
		end := to
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		pieces := (end - start + longest - 1) / longest
		for p := range pieces {
			out = append(out, start+(end-start)*p/pieces)
		}
	}
	return out, true
}

// marksOf fills the marks that begin at starts, the last of which ends at end.
func marksOf(c *topology.Collection, f *bandFigures, starts []int, end int, asOf time.Time) api.MapMarks {
	n := len(starts)
	out := api.MapMarks{At: starts, Chunks: make([]int, n), Shard: make([]int, n), Share: make([]int, n), Bytes: make([]*int64, n),
		Heat: make([]*float64, n), Peak: make([]*float64, n), Age: make([]*int64, n), Flags: make([]int, n)}
	if n == 0 {
		out.At = []int{}
	}
	var sum topology.Tally
	for i, from := range starts {
		to := end
		if i+1 < n {
			to = starts[i+1]
		}
		c.Chunks.Tally(&sum, from, to)
		out.Chunks[i] = to - from
		out.Shard[i], out.Share[i] = mostOf(sum)
		out.Bytes[i] = f.bytes(&sum, from, to)
		out.Heat[i], out.Peak[i] = f.writes(from, to)
		out.Age[i] = ageOf(sum.Newest, asOf)
		out.Flags[i] = f.flags(c, &sum, from, to)
	}
	return out
}

// mostOf is the shard that has most of the chunks, and how many percent: 100 only if all.
func mostOf(sum topology.Tally) (shard, percent int) {
	for i, n := range sum.ByShard {
		if n > sum.ByShard[shard] {
			shard = i
		}
	}
	return shard, sum.ByShard[shard] * 100 / max(sum.Chunks, 1)
}

// ageOf is how long before a time something was; nil if not known when.
func ageOf(seconds uint32, at time.Time) *int64 {
	if seconds == 0 {
		return nil
	}
	age := max(at.Unix()-int64(seconds), 0)
	return &age
}

// significant keeps four digits of a rate: nobody can see more of a colour.
func significant(f float64) float64 {
	if f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(f))))
	return math.Round(f*scale) / scale
}

// MapChunk is the chunk at a position of a band.
func MapChunk(v MapView, c *topology.Collection, q MapChunkQuery) api.MapChunk {
	n, at := c.Chunks.Len(), q.Position
	band := v.bandOf(c)
	f := band.of(v, c)
	ch := c.Chunks.At(at)
	out := api.MapChunk{NS: string(c.NS), Version: band.version, Position: at, Total: n, Shard: ch.Shard,
		To:  logbook.MovingChunks(v.View, c)[at],
		Min: answer.KeyOf(c.Key, ch.Min), Max: answer.KeyOf(c.Key, ch.Max), MinText: answer.BoundText(c.Key, ch.Min),
		MaxText: answer.BoundText(c.Key, ch.Max),
		Bytes:   answer.FigureOf(data.SizeNow(v.View, c, ch).Bytes), Jumbo: ch.Jumbo,
		URL:       api.Address(answer.ChunkURL(c.NS, answer.ChunkRef(c, ch.Min))),
		Freshness: answer.FreshnessOf(v.View, topology.PartRouting)}
	out.Heat, _ = f.writes(at, at+1)
	out.Age = ageOf(ch.Since.T, out.AsOf)
	out.Zone, _ = v.Table.ZoneOf(c, at)
	var sum topology.Tally
	c.Chunks.Tally(&sum, at, at+1)
	out.Outside = f.outside(c, &sum, at, at+1)
	out.Project, out.Name = v.projectAt(c, ch)
	return out
}
