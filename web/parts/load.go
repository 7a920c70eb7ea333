package parts

import (
	"fmt"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/web/templates"
)

// chunkFigures are the chunks of shards as figures.
func chunkFigures(list []api.Shard) (out []api.Figure) {
	for _, s := range list {
		n := int64(s.Chunks)
		out = append(out, api.Figure{Value: &n, Exact: true, Method: "routing"})
	}
	return out
}

func byteFigures(list []api.Shard) (out []api.Figure) {
	for _, s := range list {
		out = append(out, s.Bytes)
	}
	return out
}

func documentFigures(list []api.Shard) (out []api.Figure) {
	for _, s := range list {
		out = append(out, s.Documents)
	}
	return out
}

// Measures are the three stacked bars of the cluster by shard.
func Measures(list []api.Shard, refs Refs) []templates.Measure {
	return []templates.Measure{
		measure("Data", list, refs, byteFigures(list), Bytes),
		measure("Documents", list, refs, documentFigures(list), Count),
		measure("Chunks", list, refs, chunkFigures(list), Count),
	}
}

func measure(name string, list []api.Shard, refs Refs, figures []api.Figure, write func(api.Figure) templates.Figure) templates.Measure {
	all := answer.Total(figures)
	m := templates.Measure{Name: name, Total: write(all)}
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
		part, ref := answer.Share(*f.Value, *all.Value), refs.Of(list[i].Name)
		p := templates.Part{Shard: ref, From: at, Share: part,
			Title: fmt.Sprintf("%s: %s, %s", ref.Name, write(f).Text, format.Share(part))}
		switch {
		case part >= 0.09:
			p.Label = ref.Label + " · " + format.Share(part)
		case part >= 0.03:
			p.Label = ref.Label
		}
		at += part
		m.Parts = append(m.Parts, p)
		titles = append(titles, p.Title)
	}
	m.Label = fmt.Sprintf("%s by shard: %s", name, strings.Join(titles, "; "))
	return m
}

// ShardCells are the columns of the table of shards, in the order of the list.
func ShardCells(list []api.Shard) (bytes, documents, chunks []templates.Cell) {
	return Cells(byteFigures(list), Bytes), Cells(documentFigures(list), Count), Cells(chunkFigures(list), Count)
}
