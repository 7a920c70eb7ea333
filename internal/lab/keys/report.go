package keys

import (
	"fmt"

	"shardboard/internal/shardkey"
)

// Candidate is a shard key that may be chosen.
type Candidate struct {
	Name string // as people call it; the pattern if ""
	Key  shardkey.Pattern
}

// Cluster is the cluster for which keys are compared.
type Cluster struct {
	Shards         int
	ChunkSize      int64            // bytes
	Today          shardkey.Pattern // the key of today; the zero Pattern if the collection is not sharded
	Queries        []Query
	Unique         []UniqueIndex
	BytesPerSecond int64 // that resharding copies
	CanRefine      bool  // the server has refineCollectionShardKey (4.4)
	CanReshard     bool  // the server has reshardCollection (5.0)
}

// Limits of a cluster.
const (
	MostShards    = 1024
	MostQueries   = 200
	LeastChunk    = 1 << 20 // bytes, as the server has it
	MostChunkSize = 1024 << 20
)

// Check refuses what cannot be compared: one sentence, with the field and its limit.
func (c *Cluster) Check() error {
	switch {
	case c.Shards < 1 || c.Shards > MostShards:
		return fmt.Errorf("shards: there are %d, expected 1 to %d", c.Shards, MostShards)
	case c.ChunkSize < LeastChunk || c.ChunkSize > MostChunkSize:
		return fmt.Errorf("chunkSize: it is %d bytes, expected %d to %d", c.ChunkSize, LeastChunk, MostChunkSize)
	case len(c.Queries) > MostQueries:
		return fmt.Errorf("queries: there are %d, at most %d can be compared", len(c.Queries), MostQueries)
	case c.BytesPerSecond <= 0:
		return fmt.Errorf("rate: it is %d bytes a second, expected more than 0", c.BytesPerSecond)
	}
	return nil
}

// Estimate is a figure with the interval in which it lies with a confidence of 95 %. Exact figures have themselves
// as both ends.
type Estimate struct{ Value, Low, High float64 }

// Exact is a figure that was counted.
func Exact(v float64) Estimate { return Estimate{v, v, v} }

// Report is what one key would mean.
type Report struct {
	Candidate
	Err error // why the key cannot be used for these rows; the rest is empty then

	Values   Estimate // different values of the key
	Common   Estimate // rows with the most common value, as a share of all
	Missing  float64  // rows that lack all fields of the key, as a share of those looked at
	Order    float64  // rank correlation of the key with the order of insertion: 1 ascending, -1 descending, near 0 spread
	Chunks   int      // in which the server would split the rows
	Smallest int64    // bytes of the smallest chunk
	Median   int64
	Largest  int64
	Stuck    int   // chunks larger than the chunk size that no split divides, as they have one value
	Heaviest int64 // bytes of the heaviest single value: the biggest range that no split divides
	// Parts is bytes by shard: after resharding, which cuts the rows into up to 90 pieces and gives them to the shards in
	// turn. Of a collection that is not sharded yet, after the balancer has moved chunks away from the first shard until
	// all have as many; those that no split divides and that are too big to
	// move stay there.
	Parts   []int64
	Fullest float64 // the part of the shard with most, as a share of all
	Used    int     // shards that have any data
	// InsertParts is the share of the newest tenth of rows that each shard takes, when the rows before were resharded and
	// nothing has moved since; empty with fewer than ten rows. Inserts is that of the busiest shard: 1 when all go to one.
	InsertParts []float64
	Inserts     float64
	Queries     []Routed
	Unique      []Carried
	Cost        Cost
}
