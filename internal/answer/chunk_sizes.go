package answer

import (
	"context"

	"shardboard/internal/chunksize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// ChunkSizes knows and measures the sizes of single chunks.
type ChunkSizes interface {
	Of(*topology.Collection, topology.Chunk) (chunksize.Size, bool)
	Known(*topology.Collection) map[int]chunksize.Size
	Viewed(*topology.Collection, []int)
	Measure(ctx context.Context, c *topology.Collection, r shardkey.Range, exact bool) (chunksize.Size, error)
	Seq() uint64
}
