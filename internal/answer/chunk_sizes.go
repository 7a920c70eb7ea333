package answer

import (
	"context"

	"shardboard/internal/chunksize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// ChunkSizes knows and measures the sizes of single chunks.
type ChunkSizes interface {
	// Of is a chunk's size as it was last measured; false if it was not.
	Of(*topology.Collection, topology.Chunk) (chunksize.Size, bool)
	// Known are all measured sizes of a collection, by the chunk's position.
	Known(*topology.Collection) map[int]chunksize.Size
	// Viewed asks for estimates of chunks that somebody looks at, by their positions.
	Viewed(*topology.Collection, []int)
	// Measure measures a range now. Exact counts every document, else some are sampled.
	Measure(ctx context.Context, c *topology.Collection, r shardkey.Range, exact bool) (chunksize.Size, error)
	// Seq grows with every measurement.
	Seq() uint64
}
