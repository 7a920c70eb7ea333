package parts

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// stripView draws the key space: one strip, and one lane per shard.
func StripView(c *topology.Collection, r Refs, shards []templates.ShardRef) (templates.Strip, map[string]string) {
	at, caption := answer.Positions(c)
	runs := answer.RunsOf(c, at)
	s := templates.Strip{Caption: caption, Label: fmt.Sprintf("Key space of %s: %s chunks in %s runs. The table below says how many each shard has.", string(c.NS), format.Count(int64(c.Chunks.Len())), format.Count(int64(len(runs))))}
	if len(runs) > answer.MaxRects {
		return columnStrip(s, runs, shards)
	}
	lanes := map[string]*strings.Builder{}
	for _, x := range runs {
		s.Rects = append(s.Rects, rectOf(c, r, x))
		if lanes[x.Shard] == nil {
			lanes[x.Shard] = &strings.Builder{}
		}
		block(lanes[x.Shard], x.From*answer.StripWidth, x.To*answer.StripWidth, 0, answer.StripHigh)
	}
	s.Box = box(answer.StripWidth)
	out := map[string]string{}
	for shard, b := range lanes {
		out[shard] = b.String()
	}
	return s, out
}

func rectOf(c *topology.Collection, r Refs, x answer.Run) templates.Rect {
	first, last := c.Chunks.At(x.First), c.Chunks.At(x.Last)
	n := x.Last - x.First + 1
	ref := r.Of(x.Shard)
	out := templates.Rect{
		Color: ref.Color, X: templates.Percent(x.From), W: templates.Percent(x.To - x.From), Key: answer.ChunkKey(c.Key, first.Min),
		Title: fmt.Sprintf("%s: %s, %s to %s", x.Shard, message.Plural(int64(n), format.Count(int64(n))+" chunk", format.Count(int64(n))+" chunks"), Bound(c.Key, first.Min).Short, Bound(c.Key, last.Max).Short),
	}
	out.URL = "?pos=" + strconv.FormatFloat(min(x.From+1e-6, 1), 'f', 6, 64) + "#chunks"
	if x.To-x.From > 0.025 {
		out.Label, out.LabelAt = ref.Label, templates.Percent((x.From+x.To)/2)
	}
	return out
}

// columnStrip stacks, in each column, every shard's part of it. Coordinates
// are whole numbers, column by column, which makes for short paths.
func columnStrip(s templates.Strip, runs []answer.Run, shards []templates.ShardRef) (templates.Strip, map[string]string) {
	columns := max(min(answer.MaxPieces/max(len(shards), 1), answer.MaxColumns), 8)
	s.Box = box(float64(columns))
	part := map[string][]float64{}
	for _, sh := range shards {
		part[sh.Name] = make([]float64, columns)
	}
	for _, x := range runs {
		p := part[x.Shard]
		if p == nil {
			continue // a shard that the list does not have yet
		}
		from, to := x.From*float64(columns), x.To*float64(columns)
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
			y0, y1 := math.Round(base[col]*answer.StripHigh), math.Round(next*answer.StripHigh)
			base[col] = next
			if high := math.Round(f * answer.StripHigh); high > 0 {
				block(&lane, float64(col), float64(col+1), answer.StripHigh-high, answer.StripHigh)
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
	return "0 0 " + templates.Units(1, width) + " " + templates.Units(1, answer.StripHigh)
}

// block adds a rectangle to path data: three of its sides, as filling closes it.
func block(b *strings.Builder, x0, x1, y0, y1 float64) {
	top := templates.Units(y0, 1)
	b.WriteString("M" + templates.Units(x0, 1) + " " + top + "v" + templates.Units(y1-y0, 1) + "h" + templates.Units(x1-x0, 1) + "V" + top)
}
