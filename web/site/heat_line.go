package site

import (
	"shardboard/internal/answer"
	"shardboard/internal/topology"
	"shardboard/web/templates"
)

// HeatLine is what a collection, or one chunk of it, takes; empty where nothing was
// counted lately. chunk is a position, negative for the collection.
func (s *Site) HeatLine(v answer.View, ns topology.Namespace, chunk int) templates.HeatLine {
	text := answer.HeatLine(v, answer.HeatSource{Counts: s.Deps.Heat}, ns, chunk)
	if text.IsZero() {
		return templates.HeatLine{}
	}
	return templates.HeatLine{Text: text.At(v.Now), URL: answer.HeatURL(ns)}
}
