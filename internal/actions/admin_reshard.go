package actions

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// ReshardAdmin changes shard keys; 5.0 and later.
type ReshardAdmin interface {
	// ReshardCollection rewrites the collection with another shard key. It returns when
	// the operation has ended, after minutes to days; a time limit does not end it.
	// Conflict when another resharding runs, or when this one was aborted.
	ReshardCollection(ctx context.Context, run string, ns topology.Namespace, r Reshard) error
	// CommitResharding lets the running resharding switch to the new key as early as
	// possible, and waits for its end.
	CommitResharding(ctx context.Context, run string, ns topology.Namespace) error
	// AbortResharding ends the running resharding without a change. Conflict when it can
	// no longer be aborted.
	AbortResharding(ctx context.Context, run string, ns topology.Namespace) error
}

// Reshard is what a reshardCollection does, and what its undo needs.
type Reshard struct {
	Key    bson.Raw  // the new shard key
	Zones  []KeyZone // ranges of the new key; nil: not given, which the server refuses if there are zones
	Chunks int       // initial chunks; 0: the server's default

	WasKey    bson.Raw
	WasZones  []KeyZone
	WasChunks int // chunks that it had; 0 in what was stored before this was kept
}

// ErrReshardingAborted is in the error of a resharding that was aborted.
var ErrReshardingAborted = errors.New("the resharding was aborted")

// ErrReshardingCommits is in the error of an abort that came too late: the operation has
// decided to commit, and will.
var ErrReshardingCommits = errors.New("the resharding commits")
