package actions

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// RefineAdmin changes shard keys.
type RefineAdmin interface {
	// RefineKey adds fields to the end of the collection's shard key; key is the whole
	// pattern. It does nothing when that is the shard key already. Invalid when the
	// pattern does not extend the key or an index is missing. It waits for a migration
	// of the collection.
	RefineKey(ctx context.Context, run string, ns topology.Namespace, key bson.Raw) error
}
