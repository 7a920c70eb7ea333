package actions

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Index is one index of a collection.
type Index struct {
	Name   string   // hostile text
	Key    bson.Raw // such as {p: 1, q: 1}
	Unique bool
	// What makes an index unfit for a shard key.
	Partial, Sparse, Hidden, Collated bool
}

// Indexes are the indexes of a collection, as far as they were read for a plan.
type Indexes struct {
	All    []Index
	At     time.Time // when they were read; zero: not read
	Reason string    // code when they could not be read: "notPermitted", "unreachable"
}

// IndexReader reads the indexes of a collection, as one of its shards has them. Errors
// are classified with fault.
type IndexReader interface {
	Indexes(ctx context.Context, ns topology.Namespace) ([]Index, error)
}
