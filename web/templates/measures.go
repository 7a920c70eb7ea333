package templates

import (
	"cmp"
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
	Also  string  // its share, after the label
	Tight bool    // the label needs a wide screen; with Also only that does
	Title string
}

const (
	maxParts   = 20    // segments of a stacked bar; the smallest others are one segment together
	leastShare = 0.004 // a smaller segment is less than three pixels wide

	// From which part of the bar on words fit into a segment, on a wide screen and on a phone, where half a number is
	// another one.
	labelShare, labelShareNarrow     = 0.03, 0.08 // a shard's label
	percentShare, percentShareNarrow = 0.09, 0.22 // its share too
	othersShare, othersShareNarrow   = 0.09, 0.16 // how many others there are
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

func (c column) figures(list []api.Shard) []api.Figure {
	out := make([]api.Figure, 0, len(list))
	for _, s := range list {
		out = append(out, c.of(s))
	}
	return out
}

// ShardCells are the columns of the table of shards, in the order of the list: data,
// documents and chunks.
func ShardCells(list []api.Shard) (out [][]Cell) {
	drains := map[int]bool{}
	for i, s := range list {
		drains[i] = s.Draining
	}
	for _, c := range shardColumns {
		out = append(out, Cells(c.figures(list), c.write, drains))
	}
	return out
}

// PartsMeasure is a bar of one collection's bytes, or of its chunks while its bytes are not known.
func PartsMeasure(parts []api.ShardPart, refs Refs, keep string, bytes bool) Measure {
	names, figures := make([]string, len(parts)), make([]api.Figure, len(parts))
	c := shardColumns[0]
	if !bytes {
		c = shardColumns[len(shardColumns)-1]
	}
	for i, p := range parts {
		if names[i], figures[i] = p.Shard, p.Bytes; !bytes {
			figures[i] = c.of(api.Shard{Chunks: p.Chunks})
		}
	}
	return c.measure(names, figures, refs, keep)
}

// Measures are the same columns as stacked bars. The shard named keep has a segment of
// its own, however small it is.
func Measures(list []api.Shard, refs Refs, keep string) (out []Measure) {
	names := make([]string, len(list))
	for i, shard := range list {
		names[i] = shard.Name
	}
	for _, c := range shardColumns {
		out = append(out, c.measure(names, c.figures(list), refs, keep))
	}
	return out
}

func (c column) measure(names []string, figures []api.Figure, refs Refs, keep string) Measure {
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
	shares := make([]float64, len(figures))
	for i, f := range figures {
		if f.Value != nil {
			shares[i] = answer.Share(*f.Value, *all.Value)
		}
	}
	small := smallest(names, shares, keep)
	more, n := Part{}, 0
	at := 0.0
	for i, share := range shares {
		switch {
		case share == 0:
		case small != nil && small[i]:
			more.Share += share
			n++
		default:
			shard, percent := refs.Of(names[i]), format.Share(share)
			p := Part{Shard: shard, From: at, Share: share, Title: shard.Name + ": " + c.write(figures[i]).Text + ", " + percent}
			switch {
			case share >= percentShare:
				p.Label, p.Also, p.Tight = shard.Label, " · "+percent, share < percentShareNarrow
			case share >= labelShare:
				p.Label, p.Tight = shard.Label, share < labelShareNarrow
			}
			m.Parts = append(m.Parts, p)
			at += share
		}
	}
	if n > 0 {
		words := format.Count(int64(n)) + " more"
		if more.Share >= othersShare {
			more.Label, more.Tight = words, more.Share < othersShareNarrow
		}
		more.From, more.Title = at, words+" shards, "+format.Share(more.Share)+" together; the table has the figures of each"
		m.Parts = append(m.Parts, more)
	}
	titles := make([]string, len(m.Parts))
	for i, p := range m.Parts {
		titles[i] = p.Title
	}
	m.Label = c.name + " by shard: " + strings.Join(titles, "; ")
	return m
}

// smallest are the segments that are too many or too narrow to be seen, which are one together, at the end; nil where
// there are not two of them. The table has the figures of each.
func smallest(names []string, shares []float64, keep string) []bool {
	bySize := make([]int, 0, len(shares))
	for i, share := range shares {
		if share != 0 {
			bySize = append(bySize, i)
		}
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(shares[b], shares[a]) })
	small, n := make([]bool, len(shares)), 0
	for i, at := range bySize {
		if names[at] != keep && (i >= maxParts-1 && len(bySize) > maxParts || shares[at] < leastShare) {
			small[at] = true
			n++
		}
	}
	if n < 2 {
		return nil
	}
	return small
}
