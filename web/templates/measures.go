package templates

import (
	"fmt"
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

// Part is one shard's segment of a stacked bar.
type Part struct {
	Shard ShardRef
	From  float64 // 0..1
	Share float64 // 0..1
	Label string  // "" when the segment is too narrow for words
	Title string
}

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

// Measures are the same columns as stacked bars.
func Measures(list []api.Shard, refs Refs) (out []Measure) {
	for _, c := range shardColumns {
		out = append(out, c.measure(list, refs))
	}
	return out
}

func (c column) measure(list []api.Shard, refs Refs) Measure {
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
	at := 0.0
	var titles []string
	for i, f := range figures {
		if f.Value == nil || *f.Value == 0 {
			continue
		}
		share, ref := answer.Share(*f.Value, *all.Value), refs.Of(list[i].Name)
		p := Part{Shard: ref, From: at, Share: share, Title: fmt.Sprintf("%s: %s, %s", ref.Name, c.write(f).Text, format.Share(share))}
		switch {
		case share >= 0.09:
			p.Label = ref.Label + " · " + format.Share(share)
		case share >= 0.03:
			p.Label = ref.Label
		}
		at += share
		m.Parts = append(m.Parts, p)
		titles = append(titles, p.Title)
	}
	m.Label = fmt.Sprintf("%s by shard: %s", c.name, strings.Join(titles, "; "))
	return m
}
