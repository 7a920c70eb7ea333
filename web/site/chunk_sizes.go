package site

import (
	"shardboard/internal/answer"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// chunkWrites are the chunks of a collection that took writes lately, by
// position; known is false where its writes are not counted.
func (s *Site) chunkWrites(t *topology.Table, ns topology.Namespace) (rates map[int]heat.Rate, known, atLeast bool) {
	if s.Deps.Heat == nil {
		return nil, false, false
	}
	w := s.Deps.Heat.Window(ns, answer.DefaultWindow)
	if w.Seconds == 0 {
		return nil, false, false
	}
	rates = map[int]heat.Rate{}
	for _, l := range w.Chunks(t, s.Deps.Profile) {
		rates[l.Chunk] = l.Rate
	}
	return rates, true, w.Method == heat.ChangedRows
}
