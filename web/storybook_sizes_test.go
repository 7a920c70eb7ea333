package web

import (
	"context"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/chunksize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// cannedSizes are sizes of chunks by position, or why there are none.
type cannedSizes struct {
	of     map[int]chunksize.Size
	reason string
}

func (s cannedSizes) Of(c *topology.Collection, ch topology.Chunk) (chunksize.Size, bool) {
	i, _ := c.Chunks.Find(ch.Min)
	if one, ok := s.of[i]; ok {
		return one, true
	}
	if s.reason != "" {
		return chunksize.Size{Reason: s.reason, ReasonAt: epoch.Add(-time.Minute)}, false
	}
	return chunksize.Size{}, false
}

func (s cannedSizes) Known(*topology.Collection) map[int]chunksize.Size { return s.of }

func (cannedSizes) Viewed(*topology.Collection, []int) {}

func (cannedSizes) Seq() uint64 { return 1 }

func (s cannedSizes) Measure(context.Context, *topology.Collection, shardkey.Range, bool) (chunksize.Size, error) {
	return s.of[0], nil
}

func sizeOfDocuments(n, mean int64, exact bool, ago time.Duration) chunksize.Size {
	f := topology.Figure{Known: true, Exact: exact, Method: chunksize.MethodEstimate, At: epoch.Add(-ago), Value: n}
	if exact {
		f.Method = chunksize.MethodExact
	}
	bytes := f
	bytes.Value = n * mean
	return chunksize.Size{Documents: f, Bytes: bytes, Measured: true, Exact: exact, At: f.At, Took: 1300 * time.Millisecond}
}

// sizeScenes are the states of sizes on a list and on a chunk's page.
func sizeScenes() []scene {
	v := newStory().View()
	c := v.Table.Collection("yorkie-meta.changes")
	sizes := cannedSizes{of: map[int]chunksize.Size{
		0: sizeOfDocuments(120_000, 662, false, 40*time.Second), 1: sizeOfDocuments(190_000, 662, false, 9*time.Minute),
		2: sizeOfDocuments(2_400_000, 662, true, 2*time.Hour), 3: sizeOfDocuments(0, 0, true, time.Second),
	}}
	with := func(s answer.ChunkSizes) func(*site.Deps) { return func(d *site.Deps) { d.Sizes = s } }
	page := func(i int) string {
		return "/collections/yorkie-meta.changes/chunks/" + answer.ChunkRef(c, c.Chunks.At(i).Min)
	}
	return []scene{
		{name: "chunks-sized", path: "/collections/yorkie-meta.changes", view: v, change: with(sizes)},
		{name: "chunks-by-bytes", path: "/collections/yorkie-meta.changes?sort=bytes", view: v, change: with(sizes)},
		{name: "chunks-oversized", path: "/collections/yorkie-meta.changes?oversized=1", view: v, change: with(sizes)},
		{name: "chunks-by-heat-uncounted", path: "/collections/yorkie-meta.changes?sort=heat", view: v, change: with(sizes)},
		{name: "chunk-size-estimated", path: page(0), view: v, change: with(sizes)},
		{name: "chunk-size-near", path: page(1), view: v, change: with(sizes)},
		{name: "chunk-size-too-big", path: page(2), view: v, change: with(sizes)},
		{name: "chunk-size-empty", path: page(3), view: v, change: with(sizes)},
		{name: "chunk-size-from-counts", path: page(4), view: v, change: with(sizes)},
		{name: "chunk-size-denied", path: page(4), view: v, change: with(cannedSizes{reason: "notPermitted"})},
		{name: "chunk-size-slow", path: page(4), view: v, change: with(cannedSizes{reason: "tooSlow"})},
		{name: "chunk-size-not-measured-here", path: page(4), view: v},
	}
}
