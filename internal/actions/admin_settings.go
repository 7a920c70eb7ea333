package actions

import (
	"context"

	"shardboard/internal/topology"
)

// SettingsAdmin changes how the balancer treats one collection. None of its commands
// moves a chunk by itself.
type SettingsAdmin interface {
	// SetMigrations allows or forbids all migrations of the collection (5.0+).
	SetMigrations(ctx context.Context, run string, ns topology.Namespace, allowed bool) error
	// SetChunkSize sets the chunk size of the collection in MB, 1 to 1024; 0 removes it,
	// so that the cluster's counts again (5.3+).
	SetChunkSize(ctx context.Context, run string, ns topology.Namespace, mb int) error
	// SetAutoMerge lets the balancer merge adjacent chunks of the collection, or not (7.0+).
	SetAutoMerge(ctx context.Context, run string, ns topology.Namespace, on bool) error
	// Defragment tells the balancer to defragment the collection, or to end that (5.3+).
	// It returns when the balancer has been told.
	Defragment(ctx context.Context, run string, ns topology.Namespace, on bool) error
}
