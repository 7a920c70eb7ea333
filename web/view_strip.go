package web

import (
	"math"
	"strconv"
	"strings"

	"shardboard/internal/format"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

const (
	stripWidth = 1000.0 // units of the pictures' own coordinates
	stripHigh  = 100.0
	maxRects   = 120 // runs that are drawn one by one, each with its bounds
	maxColumns = 200 // otherwise the key space is cut into columns
	maxPieces  = 600 // columns × shards, which keeps the page small
	exactUpTo  = 20_000
)

// run is a stretch of neighbouring chunks on one shard.
type run struct {
	first, last int // positions, inclusive
	from, to    float64
	shard       string
}

// runsOf merges neighbours. Up to exactUpTo chunks every boundary is exact;
// beyond, nobody could see one chunk.
func runsOf(c *topology.Collection, at func(i int) float64) []run {
	var out []run
	for i := range c.Chunks.Len() {
		owner := c.Chunks.Owner(i)
		if n := len(out); n > 0 && out[n-1].shard == owner {
			out[n-1].last, out[n-1].to = i, at(i+1)
			continue
		}
		out = append(out, run{first: i, last: i, from: at(i), to: at(i + 1), shard: owner})
	}
	return out
}

// positions says where chunk i begins, 0..1, and what that means in words. A
// single hashed field has a true measure: the part of all hash values, which
// hold about equally many documents. Ranged keys have none, so there each
// chunk is equally wide.
func positions(c *topology.Collection) (at func(i int) float64, caption string) {
	n := c.Chunks.Len()
	if c.Key.Len() != 1 || c.Key.Hashed() != 0 || n > exactUpTo {
		return func(i int) float64 { return float64(i) / float64(n) }, words.T("strip.bychunk")
	}
	starts := make([]float64, n+1)
	for i, ch := range c.Chunks.All() {
		starts[i] = hashPosition(c.Key, ch.Min)
	}
	starts[n] = 1
	return func(i int) float64 { return starts[i] }, words.T("strip.byhash")
}

func hashPosition(p shardkey.Pattern, k shardkey.Key) float64 {
	v, err := p.Values(k)
	if err != nil || len(v) != 1 {
		return 0
	}
	h, ok := v[0].Int64OK()
	if !ok {
		return 0 // MinKey: the only bound that is no hash and begins a chunk
	}
	return (float64(h) - math.MinInt64) / math.Exp2(64)
}

// stripView draws the key space: one strip, and one lane per shard.
func stripView(c *topology.Collection, r refs, shards []templates.ShardRef) (templates.Strip, map[string]string) {
	at, caption := positions(c)
	runs := runsOf(c, at)
	s := templates.Strip{Caption: caption, Label: words.T("strip.label", "ns", string(c.NS),
		"chunks", format.Count(int64(c.Chunks.Len())), "runs", format.Count(int64(len(runs))))}
	if len(runs) > maxRects {
		return columnStrip(s, runs, shards)
	}
	lanes := map[string]*strings.Builder{}
	for _, x := range runs {
		s.Rects = append(s.Rects, rectOf(c, r, x))
		if lanes[x.shard] == nil {
			lanes[x.shard] = &strings.Builder{}
		}
		block(lanes[x.shard], x.from*stripWidth, x.to*stripWidth, 0, stripHigh)
	}
	s.Box = box(stripWidth)
	out := map[string]string{}
	for shard, b := range lanes {
		out[shard] = b.String()
	}
	return s, out
}

func rectOf(c *topology.Collection, r refs, x run) templates.Rect {
	first, last := c.Chunks.At(x.first), c.Chunks.At(x.last)
	n := x.last - x.first + 1
	ref := r.of(x.shard)
	out := templates.Rect{
		Color: ref.Color, X: templates.Percent(x.from), W: templates.Percent(x.to - x.from), Key: chunkKey(c.Key, first.Min),
		Title: words.T("strip.run", "shard", x.shard, "chunks", words.Plural("chunks", int64(n), "n", format.Count(int64(n))),
			"min", bound(c.Key, first.Min).Short, "max", bound(c.Key, last.Max).Short),
	}
	out.URL = "?pos=" + strconv.FormatFloat(min(x.from+1e-6, 1), 'f', 6, 64) + "#chunks"
	if x.to-x.from > 0.025 {
		out.Label, out.LabelAt = ref.Label, templates.Percent((x.from+x.to)/2)
	}
	return out
}

// columnStrip stacks, in each column, every shard's part of it. Coordinates
// are whole numbers, column by column, which makes for short paths.
func columnStrip(s templates.Strip, runs []run, shards []templates.ShardRef) (templates.Strip, map[string]string) {
	columns := max(min(maxPieces/max(len(shards), 1), maxColumns), 8)
	s.Box = box(float64(columns))
	part := map[string][]float64{}
	for _, sh := range shards {
		part[sh.Name] = make([]float64, columns)
	}
	for _, x := range runs {
		p := part[x.shard]
		if p == nil {
			continue // a shard that the list does not have yet
		}
		from, to := x.from*float64(columns), x.to*float64(columns)
		for col := int(from); col < columns && float64(col) < to; col++ {
			p[col] += max(min(to, float64(col+1))-max(from, float64(col)), 0)
		}
	}
	lanes := map[string]string{}
	base := make([]float64, columns)
	for _, sh := range shards {
		var strip, lane strings.Builder
		for col, f := range part[sh.Name] {
			next := min(base[col]+f, 1)
			y0, y1 := math.Round(base[col]*stripHigh), math.Round(next*stripHigh)
			base[col] = next
			if high := math.Round(f * stripHigh); high > 0 {
				block(&lane, float64(col), float64(col+1), stripHigh-high, stripHigh)
			}
			if y1 > y0 {
				block(&strip, float64(col), float64(col+1), y0, y1)
			}
		}
		s.Paths = append(s.Paths, templates.Path{Color: sh.Color, D: strip.String()})
		lanes[sh.Name] = lane.String()
	}
	return s, lanes
}

func box(width float64) string {
	return "0 0 " + templates.Units(1, width) + " " + templates.Units(1, stripHigh)
}

// block adds a rectangle to path data: three of its sides, as filling closes it.
func block(b *strings.Builder, x0, x1, y0, y1 float64) {
	top := templates.Units(y0, 1)
	b.WriteString("M" + templates.Units(x0, 1) + " " + top + "v" + templates.Units(y1-y0, 1) + "h" + templates.Units(x1-x0, 1) + "V" + top)
}
