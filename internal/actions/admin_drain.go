package actions

import "context"

// DrainAdmin empties and removes shards.
//
// Before 8.3 there is one command, removeShard, and what it does depends on the shard: the
// first call begins to drain, later ones report, and the one that finds the shard empty
// removes it. So each method reads the answer and fails when the command did something
// else, and none of them is ever sent to ask how far a draining is.
type DrainAdmin interface {
	// BeginRemoval begins to drain a shard that is not draining, with removeShard.
	// Conflict when the shard was draining already, or is the last one.
	BeginRemoval(ctx context.Context, run, shard string) error
	// StartDraining begins to drain a shard (8.3+). It does nothing when it drains already.
	StartDraining(ctx context.Context, run, shard string) error
	// StopDraining ends the draining (8.3+). Chunks that have left stay where they are.
	StopDraining(ctx context.Context, run, shard string) error
	// RemoveShard removes a draining shard that is empty: with commitShardRemoval since 8.3,
	// else with the last removeShard. Conflict when something is left on it.
	RemoveShard(ctx context.Context, run, shard string) error
}
