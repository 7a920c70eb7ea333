package actions

import (
	"context"

	"shardboard/internal/topology"
)

// WholeMoveAdmin moves what is not divided into chunks. Its commands answer when all data
// is copied, which may take hours. The rules of Admin hold for it too.
type WholeMoveAdmin interface {
	// MovePrimary makes a shard the primary of a database, and moves the collections that
	// are neither sharded nor tracked to it. It does nothing when the shard is the primary.
	MovePrimary(ctx context.Context, run, db, to string) error
	// MoveCollection moves a collection that is not sharded (8.0+). It does nothing when
	// the collection is on the shard.
	MoveCollection(ctx context.Context, run string, ns topology.Namespace, to string) error
	// UnshardCollection moves all of a sharded collection to one shard, and makes it
	// unsharded (8.0+). The server chooses the shard when to is "".
	UnshardCollection(ctx context.Context, run string, ns topology.Namespace, to string) error
	// AbortMoveCollection and AbortUnshardCollection end a running operation of that kind
	// (8.0+). Conflict when there is none.
	AbortMoveCollection(ctx context.Context, run string, ns topology.Namespace) error
	AbortUnshardCollection(ctx context.Context, run string, ns topology.Namespace) error
}
