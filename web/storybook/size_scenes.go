package storybook

import (
	"context"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/chunksize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
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
		return chunksize.Size{Reason: s.reason, ReasonAt: webtest.Epoch.Add(-time.Minute)}, false
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
	f := topology.Figure{Known: true, Exact: exact, Method: chunksize.MethodEstimate, At: webtest.Epoch.Add(-ago), Value: n}
	if exact {
		f.Method = chunksize.MethodExact
	}
	bytes := f
	bytes.Value = n * mean
	return chunksize.Size{Documents: f, Bytes: bytes, Measured: true, Exact: exact, At: f.At, Took: 1300 * time.Millisecond}
}

// sizeScenes are the states of sizes on a list and on a chunk's page.
func sizeScenes() []webtest.Scene {
	v := webtest.NewStory().View()
	c := v.Table.Collection("yorkie-meta.changes")
	sizes := cannedSizes{of: map[int]chunksize.Size{
		0: sizeOfDocuments(120_000, 662, false, 40*time.Second), 1: sizeOfDocuments(190_000, 662, false, 9*time.Minute),
		2: sizeOfDocuments(2_400_000, 662, true, 2*time.Hour), 3: sizeOfDocuments(0, 0, true, time.Second),
	}}
	with := func(s answer.ChunkSizes) func(*site.Deps) { return func(d *site.Deps) { d.Measured.Sizes = s } }
	page := func(i int) string {
		return "/collections/yorkie-meta.changes/chunks/" + answer.ChunkRef(c, c.Chunks.At(i).Min)
	}
	return []webtest.Scene{
		{Name: "chunks-sized", Path: "/collections/yorkie-meta.changes", View: v, Change: with(sizes)},
		{Name: "chunks-by-bytes", Path: "/collections/yorkie-meta.changes?sort=bytes", View: v, Change: with(sizes)},
		{Name: "chunks-oversized", Path: "/collections/yorkie-meta.changes?oversized=1", View: v, Change: with(sizes)},
		{Name: "chunks-by-heat-uncounted", Path: "/collections/yorkie-meta.changes?sort=heat", View: v, Change: with(sizes)},
		{Name: "chunk-size-estimated", Path: page(0), View: v, Change: with(sizes)},
		{Name: "chunk-size-near", Path: page(1), View: v, Change: with(sizes)},
		{Name: "chunk-size-too-big", Path: page(2), View: v, Change: with(sizes)},
		{Name: "chunk-size-empty", Path: page(3), View: v, Change: with(sizes)},
		{Name: "chunk-size-from-counts", Path: page(4), View: v, Change: with(sizes)},
		{Name: "chunk-size-denied", Path: page(4), View: v, Change: with(cannedSizes{reason: "notPermitted"})},
		{Name: "chunk-size-slow", Path: page(4), View: v, Change: with(cannedSizes{reason: "tooSlow"})},
		{Name: "chunk-size-not-measured-here", Path: page(4), View: v},
	}
}
