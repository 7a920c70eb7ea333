package store

import (
	"context"
	"time"
)

// Holding is what was read of one collection to estimate what projects hold on shards. Only its
// writer interprets Body.
type Holding struct {
	NS   string
	At   time.Time // of the newest row
	Body []byte
}

// Holdings stores the samples of collections.
type Holdings interface {
	// SaveHolding adds or replaces the sample of a collection.
	SaveHolding(ctx context.Context, cluster string, h Holding) error
	// LoadHoldings returns the samples of a cluster, by name of the collection.
	LoadHoldings(ctx context.Context, cluster string) ([]Holding, error)
	// DropHolding deletes the sample of a collection, if it exists.
	DropHolding(ctx context.Context, cluster, ns string) error
}
