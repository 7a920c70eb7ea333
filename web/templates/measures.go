package templates

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
)

// Measure is one stacked bar: a total and every shard's part of it.
type Measure struct {
	Name  string
	Total Figure
	Parts []Part
	Label string // for screen readers: the picture in one sentence
	Why   string // instead of the bar when nothing is known
}

// Part is one shard's segment of a stacked bar, or that of several small ones.
type Part struct {
	Shard ShardRef
	From  float64 // 0..1
	Share float64 // 0..1
	Label string  // "" when the segment is too narrow for words
	Tight bool    // the label needs a wide screen
	Title string
}

const (
	maxParts     = 20    // segments of a stacked bar; the smallest others are one segment together
	labelShare   = 0.03  // of the bar, from which a label fits on a wide screen
	narrowShare  = 0.06  // from which it fits on a phone
	percentShare = 0.09  // from which its share fits too
	leastShare   = 0.004 // a smaller segment is less than three pixels wide
)

// column is one figure of every shard.
type column struct {
	name  string
	of    func(api.Shard) api.Figure
	write func(api.Figure) Figure
}

var shardColumns = []column{
	{"Data", func(s api.Shard) api.Figure { return s.Bytes }, Bytes},
	{"Documents", func(s api.Shard) api.Figure { return s.Documents }, Count},
	{"Chunks", func(s api.Shard) api.Figure {
		n := int64(s.Chunks)
		return api.Figure{Value: &n, Exact: true, Method: "routing"}
	}, Count},
}

func (c column) figures(list []api.Shard) (out []api.Figure) {
	for _, s := range list {
		out = append(out, c.of(s))
	}
	return out
}

// ShardCells are the columns of the table of shards, in the order of the list: data,
// documents and chunks.
func ShardCells(list []api.Shard) (out [][]Cell) {
	for _, c := range shardColumns {
		out = append(out, Cells(c.figures(list), c.write))
	}
	return out
}

// BytesMeasure is the first of Measures.
func BytesMeasure(list []api.Shard, refs Refs, keep string) Measure {
	return shardColumns[0].measure(list, refs, keep)
}

// ChunksMeasure is the last of Measures.
func ChunksMeasure(list []api.Shard, refs Refs, keep string) Measure {
	return shardColumns[len(shardColumns)-1].measure(list, refs, keep)
}

// Measures are the same columns as stacked bars. The shard named keep has a segment of
// its own, however small it is.
func Measures(list []api.Shard, refs Refs, keep string) (out []Measure) {
	for _, c := range shardColumns {
		out = append(out, c.measure(list, refs, keep))
	}
	return out
}

func (c column) measure(list []api.Shard, refs Refs, keep string) Measure {
	figures := c.figures(list)
	all := answer.Total(figures)
	m := Measure{Name: c.name, Total: c.write(all)}
	switch {
	case all.Value == nil:
		m.Why = m.Total.Title
		return m
	case *all.Value == 0:
		m.Why = "nothing stored yet"
		return m
	}
	for i, f := range figures {
		if f.Value == nil || *f.Value == 0 {
			continue
		}
		share, ref := answer.Share(*f.Value, *all.Value), refs.Of(list[i].Name)
		p := Part{Shard: ref, Share: share, Title: fmt.Sprintf("%s: %s, %s", ref.Name, c.write(f).Text, format.Share(share))}
		switch {
		case share >= percentShare:
			p.Label = ref.Label + " · " + format.Share(share)
		case share >= labelShare:
			p.Label, p.Tight = ref.Label, share < narrowShare
		}
		m.Parts = append(m.Parts, p)
	}
	m.Parts = mergeSmallest(m.Parts, keep)
	at := 0.0
	var titles []string
	for i, p := range m.Parts {
		m.Parts[i].From = at
		at += p.Share
		titles = append(titles, p.Title)
	}
	m.Label = c.name + " by shard: " + strings.Join(titles, "; ")
	return m
}

// mergeSmallest puts the segments that are too many or too narrow to be seen together
// into one, at the end. The table has the figures of each.
func mergeSmallest(parts []Part, keep string) []Part {
	bySize := slices.Clone(parts)
	slices.SortStableFunc(bySize, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	small := map[string]bool{}
	for i, p := range bySize {
		if p.Shard.Name != keep && (i >= maxParts-1 && len(parts) > maxParts || p.Share < leastShare) {
			small[p.Shard.Name] = true
		}
	}
	if len(small) < 2 {
		return parts
	}
	var out []Part
	more := Part{}
	for _, p := range parts {
		if !small[p.Shard.Name] {
			out = append(out, p)
			continue
		}
		more.Share += p.Share
	}
	words := format.Count(int64(len(small))) + " more"
	if more.Share >= percentShare {
		more.Label = words
	}
	more.Title = fmt.Sprintf("%s shards, %s together; the table has the figures of each", words, format.Share(more.Share))
	return append(out, more)
}
