package collections

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/web/templates"
)

// Units of the pictures' own coordinates.
const (
	stripWidth = 1000.0
	stripHigh  = 100.0
	maxColumns = 200 // of a key space that is too dense to draw run by run
	maxPieces  = 600 // columns × shards, which keeps the page small
)

// strip is the key space from MinKey to MaxKey, stripWidth units wide, with a lane
// for each shard.
type strip struct {
	Label string            // for screen readers: the picture in one sentence
	Box   string            // viewBox of Paths and of the lanes
	Rects []rect            // neighbours on one shard merged; empty when too many
	Paths []path            // instead of Rects: one shape per shard
	Lanes map[string]string // path data by shard
}

// rect is a run of neighbouring chunks on one shard.
type rect struct {
	Swatch  templates.Swatch
	X, W    string
	Key     string // data-key
	Title   string
	Label   string // drawn inside when wide enough
	LabelAt string
	URL     string
}

// path is the union of one shard's pieces.
type path struct {
	Swatch templates.Swatch
	D      string
}

// draw makes the picture of a key space.
func draw(m writes.KeySpaceMap, r templates.Refs, shards []templates.ShardRef) strip {
	s := strip{Label: fmt.Sprintf("Key space of %s. Chunks: %s; groups of neighbours on one shard: %s. "+
		"The table below has them by shard.", m.NS,
		format.Count(int64(m.Chunks)), format.Count(int64(len(m.Runs))))}
	if len(m.Runs) > writes.NamedRuns {
		return columnStrip(s, m.Runs, shards)
	}
	lanes := map[string]*strings.Builder{}
	for _, x := range m.Runs {
		s.Rects = append(s.Rects, rectOf(r.Of(x.Shard), x))
		if lanes[x.Shard] == nil {
			lanes[x.Shard] = &strings.Builder{}
		}
		block(lanes[x.Shard], x.From*stripWidth, x.To*stripWidth, 0, stripHigh)
	}
	s.Box = box(stripWidth)
	s.Lanes = map[string]string{}
	for shard, b := range lanes {
		s.Lanes[shard] = b.String()
	}
	return s
}

func rectOf(shard templates.ShardRef, x writes.KeySpaceRun) rect {
	short := func(bound string, of api.KeyProject) string {
		bound = templates.BoundKey(bound).Short
		if of.ProjectName == "" {
			return bound
		}
		return sanitize.Sentence(templates.Cut(of.ProjectName, answer.BoundWidth).Short) + " (" + bound + ")"
	}
	out := rect{
		Swatch: shard.Swatch, X: templates.Percent(x.From), W: templates.Percent(x.To - x.From), Key: x.Name,
		Title: fmt.Sprintf("%s: %s, %s to %s", x.Shard, chunkCount(x.Last-x.First+1), short(x.Min, x.Of), short(x.Max, x.Until)),
	}
	out.URL = "?pos=" + strconv.FormatFloat(min(x.From+1e-6, 1), 'f', 6, 64) + "#chunks"
	if x.To-x.From > 0.025 {
		out.Label, out.LabelAt = shard.Label, templates.Percent((x.From+x.To)/2)
	}
	return out
}

// role says whether the picture has parts that a screen reader may visit.
func (s strip) role() string {
	if len(s.Rects) > 0 {
		return "group"
	}
	return "img"
}

func chunkCount(n int) string {
	return message.Plural(n, format.Count(int64(n))+" chunk", format.Count(int64(n))+" chunks")
}

// columnStrip stacks, in each column, every shard's part of it. Coordinates
// are whole numbers, column by column, which makes for short paths.
func columnStrip(s strip, runs []writes.KeySpaceRun, shards []templates.ShardRef) strip {
	columns := max(min(maxPieces/max(len(shards), 1), maxColumns), 8)
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
	s.Lanes = map[string]string{}
	base := make([]float64, columns)
	for _, sh := range shards {
		var all, lane strings.Builder
		for col, f := range part[sh.Name] {
			next := min(base[col]+f, 1)
			y0, y1 := math.Round(base[col]*stripHigh), math.Round(next*stripHigh)
			base[col] = next
			if high := math.Round(f * stripHigh); high > 0 {
				block(&lane, float64(col), float64(col+1), stripHigh-high, stripHigh)
			}
			if y1 > y0 {
				block(&all, float64(col), float64(col+1), y0, y1)
			}
		}
		s.Paths = append(s.Paths, path{Swatch: sh.Swatch, D: all.String()})
		s.Lanes[sh.Name] = lane.String()
	}
	return s
}

func box(width float64) string {
	return "0 0 " + templates.Units(1, width) + " " + templates.Units(1, stripHigh)
}

// block adds a rectangle to path data: three of its sides, as filling closes it.
func block(b *strings.Builder, x0, x1, y0, y1 float64) {
	top := templates.Units(y0, 1)
	b.WriteString("M" + templates.Units(x0, 1) + " " + top + "v" + templates.Units(y1-y0, 1) + "h" + templates.Units(x1-x0, 1) + "V" + top)
}
